import type { Kysely } from 'kysely'
import { type Message, misuse, PAGE } from '../options/misuse.js'

/** A table of any database. */
export type Rows = Kysely<Record<string, Record<string, unknown>>>

/** The names that the checks of a table need. */
interface TableNames {
  readonly table: string
  readonly id: string
  readonly email: string
}

/** The parts of an index: columns and expressions. Null is an expression whose text the database does not say. */
type UniqueIndex = string | null

/** The facts about a table that the catalogue of its database has. */
interface Known {
  readonly unique: readonly UniqueIndex[]
  /** Says that SQLite uses the highest id again after its row was deleted. */
  readonly reusesIds?: boolean
}

/** Returns whether a database is SQLite. A dialect of another package may have its own adapter, so its features count and not its class. */
export function isSqlite(db: Rows): boolean {
  const { supportsReturning, supportsTransactionalDdl } = db.getExecutor().adapter
  return supportsReturning && !supportsTransactionalDdl
}

/**
 * Creates the checks of a table of accounts, each from the catalogue of the database. A database whose catalogue is unknown passes, and so
 * does a table that is not in it, such as a view.
 */
export function tableChecks(db: Rows, { table, id, email }: TableNames) {
  const passed = new Set<string>()

  async function check(name: string, isWrong: (known: Known) => boolean, message: Message): Promise<void> {
    if (passed.has(name)) return
    // A catalogue that cannot be read says nothing about the table.
    const known = await knownOf(db, table, id).catch(() => undefined)
    if (known && isWrong(known)) throw misuse(message, PAGE.stores)
    if (known) passed.add(name)
  }

  const noUniqueIndex: Message = `kyselyAccounts: the table "${table}" has no unique index on "${email}", so two sign-ups at the same time would make two accounts of one address. Create one: create unique index on that column`
  return {
    noUniqueIndex,
    /** @throws TypeError when the table may hold two accounts of one address */
    uniqueEmail: () => check('email', ({ unique }) => !unique.some((one) => names(one, email)), noUniqueIndex),
    /** @throws TypeError when a new account may get the id of an account that was removed */
    newIds: () =>
      check(
        'id',
        ({ reusesIds = false }) => reusesIds,
        `kyselyAccounts: SQLite would use an id of the table "${table}" again, and old tokens would open the new account. Declare "${id}" as integer primary key autoincrement, or return a random id from "create"`,
      ),
  }
}

/** Returns whether an index names a column. A plugin of the host may write its name in another case. */
function names(index: UniqueIndex, column: string): boolean {
  if (index === null) return true
  const words = /\W/.test(column) ? [index] : index.split(/\W+/)
  return words.some((word) => (/\W/.test(column) ? word.includes(column) : plain(word) === plain(column)))
}

const plain = (name: string) => name.replaceAll('_', '').toLowerCase()

/** Returns undefined for a table or a database that is not known. */
async function knownOf(db: Rows, table: string, id: string): Promise<Known | undefined> {
  // The plugins of the host would change names of the catalogue.
  const catalogue = db.withoutPlugins()
  const name = table.slice(table.lastIndexOf('.') + 1)
  const { supportsReturning, supportsTransactionalDdl } = db.getExecutor().adapter
  if (isSqlite(db)) return knownToSqlite(catalogue, name, id)
  if (supportsReturning) return knownToPostgres(catalogue, name)
  return supportsTransactionalDdl ? undefined : knownToMysql(catalogue, name)
}

async function knownToPostgres(catalogue: Rows, name: string): Promise<Known | undefined> {
  const rows = await catalogue
    .selectFrom('pg_catalog.pg_indexes')
    .select('indexdef')
    .where('tablename', '=', name)
    .execute()
  const definitions = rows.map(({ indexdef }) => indexdef).filter((one) => typeof one === 'string')
  const unique = definitions.filter((one) => one.startsWith('CREATE UNIQUE'))
  return definitions.length > 0 ? { unique: unique.map((one) => one.slice(one.indexOf('('))) } : undefined
}

async function knownToMysql(catalogue: Rows, name: string): Promise<Known | undefined> {
  const rows = await catalogue
    .selectFrom('information_schema.statistics')
    .select(['column_name as part', 'non_unique as repeats'])
    .where('table_name', '=', name)
    .where('table_schema', '=', catalogue.fn('database', []))
    .execute()
  const unique = rows.filter(({ repeats }) => Number(repeats) === 0).map(({ part }) => part as UniqueIndex)
  return rows.length > 0 ? { unique } : undefined
}

async function knownToSqlite(catalogue: Rows, name: string, id: string): Promise<Known | undefined> {
  const [table] = await catalogue
    .selectFrom('sqlite_master')
    .select('sql')
    .where('type', '=', 'table')
    .where('name', '=', name)
    .execute()
  if (typeof table?.['sql'] !== 'string') return undefined
  const indexes = await catalogue
    .selectFrom('pragma_index_list')
    .select('name')
    .where('arg', '=', name)
    .where('unique', '=', 1)
    .execute()
  const parts = indexes.map((index) =>
    catalogue.selectFrom('pragma_index_info').select('name').where('arg', '=', index['name']).execute(),
  )
  const unique = (await Promise.all(parts)).flat().map((part) => part['name'] as UniqueIndex)
  const keys = await catalogue.selectFrom('pragma_table_info').selectAll().where('arg', '=', name).execute()
  const [key, ...others] = keys.filter(({ pk }) => Number(pk) > 0)
  const isRowId = others.length === 0 && /^integer$/i.test(String(key?.['type']))
  const reusesIds = isRowId && plain(String(key?.['name'])) === plain(id) && !/\bautoincrement\b/i.test(table['sql'])
  return { unique, reusesIds }
}
