import type { ColumnBuilderCallback, CreateIndexBuilder, CreateTableBuilder, Kysely, Transaction } from 'kysely'
import { text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { optional, readOptions } from '../options/read-options.js'
import { type Hints, isError } from './kysely-errors.js'
import { kyselyOption } from './kysely-option.js'

/** The options of a store with a table, and of the function that creates it. */
interface TableOptions {
  table?: string | undefined
}

/** The columns that every table has. Some drivers return 64-bit integers as text. */
interface BaseRow {
  account_id: string
  expires_at: number | string | bigint
}

/** The contents of a column. Times are in milliseconds, because databases differ in their types for times. */
type Column = 'key' | 'name' | 'name or null' | 'time' | 'json'

/** A table of a store. */
export interface Table<Row extends BaseRow> {
  store: 'kyselySessions' | 'kyselyCodes'
  create: 'createSessionTable' | 'createCodeTable'
  defaultName: string
  /** The first column is the key. */
  columns: Readonly<Record<keyof Row & string, Column>>
}

/** Any database: the host's types need not name the table. */
// biome-ignore lint/suspicious/noExplicitAny: the host's own type
type AnyDatabase = Kysely<any> | Transaction<any>

function readTable(caller: Table<never>['store' | 'create'], db: unknown, options: object | undefined, name: string) {
  const schema = { table: optional(text('the name of a table'), name) }
  kyselyOption(caller, db)
  return readOptions<TableOptions, typeof schema>(caller, options, schema).table
}

/**
 * Returns the queries of a store. Each compares exactly, because a database may take other texts for equal: other letter cases, or spaces at
 * the end.
 * @throws TypeError naming the option that is not valid
 */
export function openTable<Row extends BaseRow>(db: AnyDatabase, options: object | undefined, of: Table<Row>) {
  const table = readTable(of.store, db, options, of.defaultName)
  const columns = Object.keys(of.columns)
  const [key = ''] = columns
  const rows = db as unknown as Kysely<Record<string, Record<string, unknown>>>
  const noColumn = `${of.store}: the table "${table}" lacks a column. It needs ${columns.join(', ')}` as const

  /** Returns a row with the names of the table, because the host's Kysely may have the plugin `CamelCasePlugin`. */
  function toRead(row: Readonly<Record<string, unknown>>): Row {
    const values = columns.map((column) => {
      const name = [column, camelCase(column)].find((one) => Object.hasOwn(row, one))
      if (name === undefined) throw misuse(noColumn)
      return [column, row[name]]
    })
    return Object.fromEntries(values)
  }

  async function rowsWith(column: string, value: string): Promise<Row[]> {
    const found = await rows.selectFrom(table).selectAll().where(column, '=', value).execute()
    return found.map(toRead).filter((row) => row[column as keyof Row] === value)
  }

  return {
    table,
    rows,
    rowOf: async (id: string) => (await rowsWith(key, id))[0],
    rowsOf: (accountId: string) => rowsWith('account_id', accountId),
    /** Inserts a row, and deletes those that have expired. */
    async add(row: Row, now: number): Promise<void> {
      await rows.deleteFrom(table).where('expires_at', '<=', now).execute()
      await rows
        .insertInto(table)
        .values(row as unknown as Record<string, unknown>)
        .execute()
    },
    /** Removes rows by the keys that the database returned. Returns whether this call, and not another one, has removed some. */
    async removeRows(found: readonly Row[]): Promise<boolean> {
      if (found.length === 0) return false
      const keys = found.map((row) => row[key as keyof Row])
      const [result] = await rows.deleteFrom(table).where(key, 'in', keys).execute()
      return (result?.numDeletedRows ?? 0n) > 0n
    },
    hints: {
      noTable: `${of.store}: the database has no table "${table}". Call ${of.create}, or add a migration`,
      noColumn,
      isReadOnly: `${of.store}: the database is read-only. Connect to the primary, as a user that may write`,
    } satisfies Hints,
  }
}

const required: ColumnBuilderCallback = (column) => column.notNull()
const TYPES: Record<Column, [type: 'varchar(255)' | 'bigint' | 'text', build?: ColumnBuilderCallback]> = {
  key: ['varchar(255)', (column) => column.primaryKey()],
  name: ['varchar(255)', required],
  'name or null': ['varchar(255)'],
  time: ['bigint', required],
  json: ['text', required],
}

/**
 * Creates a table and its indexes, each unless it exists.
 * @throws TypeError naming the option that is not valid; every error of the database
 */
export async function createTable<Row extends BaseRow>(
  db: AnyDatabase,
  options: object | undefined,
  of: Table<Row>,
): Promise<void> {
  const table = readTable(of.create, db, options, of.defaultName)
  // The databases that have `returning` also have `if not exists` for indexes.
  const { supportsReturning } = db.getExecutor().adapter

  async function create(builder: CreateTableBuilder<string, string> | CreateIndexBuilder<string>): Promise<void> {
    const statement = supportsReturning ? builder.ifNotExists() : builder
    const execute = () =>
      statement.execute().catch((error: unknown) => {
        if (!isError('isThere', error)) throw error
      })
    // PostgreSQL fails when another process creates the same at this moment.
    await execute().catch((error) =>
      execute().catch(() => {
        throw error
      }),
    )
  }

  let builder: CreateTableBuilder<string, string> = db.schema.createTable(table)
  for (const [name, column] of Object.entries<Column>(of.columns)) builder = builder.addColumn(name, ...TYPES[column])
  await create(builder)
  await create(db.schema.createIndex(`${table}_of_account`).on(table).column('account_id'))
  await create(db.schema.createIndex(`${table}_by_end`).on(table).column('expires_at'))
}

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns JSON in ASCII, which a column of any character set holds. */
export const asciiJson = (value: unknown) => JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped)

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

export const dateOf = (milliseconds: BaseRow['expires_at']) => new Date(Number(milliseconds))
