import type { Kysely, Transaction } from 'kysely'
import { text } from '../options/checks.js'
import { checkThat, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import type { WholeStore } from '../store/store.js'
import { CODE_COLUMNS, kyselyCodes } from './kysely-codes.js'
import { FACTOR_COLUMNS, kyselyFactors } from './kysely-factors.js'
import { kyselyOption } from './kysely-option.js'
import { kyselySessions, SESSION_COLUMNS } from './kysely-sessions.js'
import { createTable } from './kysely-table.js'

/** The names of the tables. */
export interface StoreTables {
  /** The table of the sessions. Default `'sessions'`. */
  sessions?: string | undefined
  /** The table of the codes. Default `'codes'`. */
  codes?: string | undefined
  /** The table of the factors and the API keys. Default `'factors'`. */
  factors?: string | undefined
}

/** The options of `kyselyStore` and `createTables`. */
export interface KyselyStoreOptions {
  /** Table names. Default: `{ sessions: 'sessions', codes: 'codes', factors: 'factors' }`. */
  tables?: StoreTables | undefined
}

const name = text('the name of a table')
const tablesSchema = {
  sessions: optional(name, 'sessions'),
  codes: optional(name, 'codes'),
  factors: optional(name, 'factors'),
}

type Caller = 'kyselyStore' | 'createTables'

function tablesIn(caller: Caller, db: unknown, options: KyselyStoreOptions | undefined) {
  kyselyOption(caller, db)
  const tables = (value: unknown) =>
    readOptions<StoreTables, typeof tablesSchema>(
      `${caller}: option "tables"`,
      optional(checkThat<StoreTables>("an object of names, like { sessions: 'app_sessions' }", isPlainObject))(value),
      tablesSchema,
    )
  const aliases = { table: 'tables', tableName: 'tables' }
  return readOptions<KyselyStoreOptions, { tables: typeof tables }>(caller, options, { tables }, aliases).tables
}

/**
 * Creates a store in tables of PostgreSQL, MySQL, MariaDB, SQLite or SQL Server. Each sign-in deletes the sessions that have expired,
 * each new code the codes, and each new factor the factors. `createTables` makes the tables.
 * @throws TypeError naming the option that is not valid
 */
export function kyselyStore<DB>(db: Kysely<DB> | Transaction<DB>, options?: KyselyStoreOptions): WholeStore {
  const tables = tablesIn('kyselyStore', db, options)
  return {
    sessions: kyselySessions(db, tables.sessions),
    codes: kyselyCodes(db, tables.codes),
    factors: kyselyFactors(db, tables.factors),
  }
}

/**
 * Creates the tables of `kyselyStore` and their indexes, each unless it exists. For migrations, see docs/guides/stores.md.
 * @throws TypeError naming the option that is not valid, or the columns of a table that lacks one; every error of the database
 */
export async function createTables<DB>(db: Kysely<DB> | Transaction<DB>, options?: KyselyStoreOptions): Promise<void> {
  const tables = tablesIn('createTables', db, options)
  await createTable(db, tables.sessions, SESSION_COLUMNS)
  await createTable(db, tables.codes, CODE_COLUMNS)
  await createTable(db, tables.factors, FACTOR_COLUMNS)
}
