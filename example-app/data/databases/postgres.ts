import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely'
import { DatabaseError, Pool } from 'pg'
import { Failure, messageOf, Outage } from '../../failure.js'
import { outageLog } from './outage.js'
import { createSchema, type Database, type Schema } from './schema.js'

/** A connection and a query together stay below the five seconds after which the package answers `503` by itself. */
const LIMITS = {
  // Of PostgreSQL's own 100 connections, so that nine processes fit.
  max: 10,
  connectionTimeoutMillis: 2000,
  // The server's, which ends a query that is too slow; the client's is for a server that says nothing any more.
  statement_timeout: 2000,
  query_timeout: 2500,
  idle_in_transaction_session_timeout: 5000,
}

/** Any number, as long as it is always the same. */
const SCHEMA_LOCK = 20_130_502

/**
 * Opens the database, and makes the tables that are not there yet.
 * @throws Failure when it cannot be reached or used
 */
export async function openPostgres(url: string, log: (line: string) => void): Promise<Database> {
  let isOpen = false
  // Before it is open, the failure itself is told.
  const pool = sturdyPool(url, (line) => isOpen && log(line))
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) })
  try {
    await db.transaction().execute(async (trx) => {
      // "if not exists" alone lets two processes at once both try, and one fail.
      await sql`select pg_advisory_xact_lock(${sql.lit(SCHEMA_LOCK)})`.execute(trx)
      await createSchema(trx)
    })
    isOpen = true
    return db
  } catch (error) {
    await db.destroy()
    throw new Failure(`DATABASE_URL: ${messageOf(error)}`)
  }
}

/** A pool that tells what is an outage, and lends no connection again of which nobody knows what it is waiting for. */
function sturdyPool(connectionString: string, log: (line: string) => unknown): PostgresPool {
  const pool = new Pool({ connectionString, application_name: 'clearing-house', keepAlive: true, ...LIMITS })
  const outage = outageLog('PostgreSQL', log)
  // A connection that breaks without a listener takes the process with it: one in the pool is told of by the pool, and one
  // that is lent by itself.
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
          // pg drops a query that took too long, but its connection goes on waiting for the answer.
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
 * Whether the server refuses what it was asked. All else is an outage, as are three classes of the server's own answers
 * (PostgreSQL, appendix A): 08 connection exception, 53 insufficient resources, 57 operator intervention.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && !/^(08|53|57)/.test(error.code ?? '')
}
