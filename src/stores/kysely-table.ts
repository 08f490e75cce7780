import type { ColumnBuilderCallback, CreateIndexBuilder, CreateTableBuilder, Kysely, Transaction } from 'kysely'
import { misuse } from '../options/misuse.js'
import { type Hints, isError, withHints } from './kysely-errors.js'

/** Milliseconds since 1970. Some drivers return 64-bit integers as text. */
export type Time = number | string | bigint

/** The columns that every table has. */
interface BaseRow {
  account_id: string
  expires_at: Time | null
}

/** The contents of a column. Times are in milliseconds, because databases differ in their types for times. */
type Column = 'key' | 'name' | 'name or null' | 'time' | 'time or null' | 'json' | 'text or null'

/** The columns of a table. The first one is the key. */
export type Columns<Row extends BaseRow> = Readonly<Record<keyof Row & string, Column>>

/** Any database: the host's types need not name the table. */
// biome-ignore lint/suspicious/noExplicitAny: the host's own type
export type AnyDatabase = Kysely<any> | Transaction<any>

/**
 * Returns the queries of a store. Each compares exactly, because a database may take other texts for equal: other letter cases, or spaces at
 * the end.
 */
export function openTable<Row extends BaseRow>(db: AnyDatabase, table: string, of: Columns<Row>) {
  const columns = Object.keys(of)
  const [key = ''] = columns
  const rows = db as unknown as Kysely<Record<string, Record<string, unknown>>>
  const noColumn = `kyselyStore: the table "${table}" lacks a column. It needs ${columns.join(', ')}` as const

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
      noTable: `kyselyStore: the database has no table "${table}". Call createTables, or add a migration`,
      noColumn,
      isReadOnly: `kyselyStore: the database is read-only. Connect to the primary, as a user that may write`,
    } satisfies Hints,
  }
}

const required: ColumnBuilderCallback = (column) => column.notNull()
const TYPES: Record<Column, [type: 'varchar(255)' | 'bigint' | 'text', build?: ColumnBuilderCallback]> = {
  key: ['varchar(255)', (column) => column.primaryKey()],
  name: ['varchar(255)', required],
  'name or null': ['varchar(255)'],
  time: ['bigint', required],
  'time or null': ['bigint'],
  json: ['text', required],
  'text or null': ['text'],
}

/**
 * Creates a table and its indexes, each unless it exists.
 * @throws every error of the database; TypeError for a table that lacks a column
 */
export async function createTable<Row extends BaseRow>(
  db: AnyDatabase,
  table: string,
  columns: Columns<Row>,
): Promise<void> {
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
  for (const [name, column] of Object.entries<Column>(columns)) builder = builder.addColumn(name, ...TYPES[column])
  await create(builder)
  await create(db.schema.createIndex(`${table}_of_account`).on(table).column('account_id'))
  await create(db.schema.createIndex(`${table}_by_end`).on(table).column('expires_at'))
  // A table of an earlier release would otherwise refuse the first sign-in.
  const { rows, hints } = openTable(db, table, columns)
  const names = Object.keys(columns)
  const check = () =>
    rows
      .selectFrom(table)
      .select(names)
      .where(names[0] as string, '=', '')
      .execute()
  await withHints({ check }, hints).check()
}

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns JSON in ASCII, which a column of any character set holds. */
export const asciiJson = (value: unknown) => ascii(JSON.stringify(value))

/** Returns a text of JSON in ASCII. */
export const ascii = (json: string) => json.replace(/[^\x20-\x7e]/g, escaped)

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

export const dateOf = (milliseconds: Time) => new Date(Number(milliseconds))
