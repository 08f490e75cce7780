import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely'
import { DatabaseError, Pool } from 'pg'
import { messageOf, OperatorError, Outage } from '../../errors.js'
import { outageLog } from './outage.js'
import { createSchema, type Database, type Schema } from './schema.js'

/** Connecting and querying take at most 4.5 s, less than the 5 s after which the package returns 503 itself. */
const LIMITS = {
  // PostgreSQL accepts 100 connections by default, enough for nine processes.
  max: 10,
  connectionTimeoutMillis: 2000,
  // The server ends a slow query. The client gives up when the server no longer responds.
  statement_timeout: 2000,
  query_timeout: 2500,
  idle_in_transaction_session_timeout: 5000,
}

/** An arbitrary number that all processes share. */
const SCHEMA_LOCK = 20_130_502

/**
 * Opens the database, and creates the missing tables.
 * @throws OperatorError when the database is unreachable or refuses the connection
 */
export async function openPostgres(url: string, log: (line: string) => void): Promise<Database> {
  let isOpen = false
  // Until the database is open, the thrown error reports the failure.
  const pool = sturdyPool(url, (line) => isOpen && log(line))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    await db.transaction().execute(async (trx) => {
      // With "if not exists" only, two processes can try at the same time, and one fails.
      await sql`select pg_advisory_xact_lock(${sql.lit(SCHEMA_LOCK)})`.execute(trx)
      await createSchema(trx)
    })
    isOpen = true
    return db
  } catch (error) {
    await db.destroy()
    throw new OperatorError(`DATABASE_URL: ${messageOf(error)}`)
  }
}

/** Creates a pool that throws an Outage for an unreachable server, and discards a connection after a failed query. */
function sturdyPool(connectionString: string, log: (line: string) => unknown): PostgresPool {
  const pool = new Pool({ connectionString, application_name: 'clearing-house', keepAlive: true, ...LIMITS })
  const outage = outageLog('PostgreSQL', log)
  // An error event without a listener ends the process. Idle connections emit on the pool, others on the client.
  pool.on('error', outage.began)
  pool.on('connect', (client) => client.on('error', outage.began))

  const outageOf = (error: unknown) => {
    outage.began(error)
    return new Outage(`PostgreSQL: ${messageOf(error)}`, { cause: error })
  }
  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw isRefusal(error) ? error : outageOf(error)
      })
      let lost = false
      const query = async (text: string, values: readonly unknown[]) => {
        try {
          const result = await client.query(text, [...values])
          outage.ended()
          return result
        } catch (error) {
          if (isRefusal(error)) throw error
          // After a timeout pg drops the query, but the connection still waits for the result.
          lost = true
          throw outageOf(error)
        }
      }
      return { query, release: () => client.release(lost) } as unknown as PostgresPoolClient
    },
    end: () => pool.end(),
  }
}

/**
 * Returns true when the server refused the query. Everything else is an outage, including three classes of error codes
 * (PostgreSQL, appendix A): 08 connection exception, 53 insufficient resources, 57 operator intervention.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && !/^(08|53|57)/.test(error.code ?? '')
}
