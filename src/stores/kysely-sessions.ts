import type { CreateIndexBuilder, CreateTableBuilder, Kysely, Transaction } from 'kysely'
import { text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { optional, readOptions } from '../options/read-options.js'
import type { FoundSession, Session, SessionStore } from '../sessions/session.js'
import { isError, withHints } from './kysely-errors.js'
import { kyselyOption } from './kysely-option.js'

/** The options of `kyselySessions` and `createSessionTable`. */
export interface SessionTableOptions {
  /** The name of the table. Default `'sessions'`. */
  table?: string | undefined
}

/** A row of the table. Times are in milliseconds, because databases differ in their types for times. */
interface SessionRow {
  id: string
  account_id: string
  /** Some drivers return 64-bit integers as text. */
  created_at: number | string | bigint
  expires_at: number | string | bigint
  last_used_at: number | string | bigint
  refresh: string | null
  /** The address, the `User-Agent` and the label as JSON in ASCII, which a column of any character set holds. */
  device: string
}

type Tables = Record<string, SessionRow>

const COLUMNS: readonly (keyof SessionRow)[] = [
  'id',
  'account_id',
  'created_at',
  'expires_at',
  'last_used_at',
  'refresh',
  'device',
]

const schema = { table: optional(text('the name of a table'), 'sessions') }

function readTable(caller: 'kyselySessions' | 'createSessionTable', db: unknown, options?: SessionTableOptions) {
  kyselyOption(caller, db)
  return readOptions<SessionTableOptions, typeof schema>(caller, options, schema).table
}

/**
 * Creates a session store in a table of PostgreSQL, MySQL, MariaDB, SQLite or SQL Server. Each sign-in deletes the sessions that have expired.
 * `createSessionTable` makes the table.
 * @throws TypeError naming the option that is not valid
 */
export function kyselySessions<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options?: SessionTableOptions,
): Required<SessionStore> {
  const table = readTable('kyselySessions', db, options)
  // The host's types need not name this table.
  const sessions = db as unknown as Kysely<Tables>

  const noColumn = `kyselySessions: the table "${table}" lacks a column. It needs ${COLUMNS.join(', ')}` as const

  /** Returns a row with the names of the table, because the host's Kysely may have the plugin `CamelCasePlugin`. */
  function toRead(row: SessionRow): SessionRow {
    if (COLUMNS.every((column) => Object.hasOwn(row, column))) return row
    const values = COLUMNS.map((column) => {
      const name = [column, camelCase(column)].find((one) => Object.hasOwn(row, one))
      if (name === undefined) throw misuse(noColumn)
      return [column, row[name as keyof SessionRow]]
    })
    return Object.fromEntries(values)
  }

  /** Returns a row. Compares exactly, because a database may take other texts for equal: other letter cases, or spaces at the end. */
  async function rowOf(id: string): Promise<SessionRow | undefined> {
    const row = await sessions.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirst()
    return row?.id === id ? toRead(row) : undefined
  }

  async function rowsOf(accountId: string): Promise<SessionRow[]> {
    const rows = await sessions.selectFrom(table).selectAll().where('account_id', '=', accountId).execute()
    return rows.map(toRead).filter((row) => row.account_id === accountId)
  }

  /** Removes rows by the ids that the database returned. */
  async function removeRows(rows: readonly SessionRow[]): Promise<boolean> {
    if (rows.length === 0) return false
    const ids = rows.map(({ id }) => id)
    const { numDeletedRows } = await sessions.deleteFrom(table).where('id', 'in', ids).executeTakeFirst()
    return numDeletedRows > 0n
  }

  const store: Required<SessionStore> = {
    async add(session) {
      await sessions.deleteFrom(table).where('expires_at', '<=', Date.now()).execute()
      await sessions.insertInto(table).values(toRow(session)).execute()
    },
    async find(id) {
      const row = await rowOf(id)
      return row && toFound(row)
    },
    list: async (accountId) => (await rowsOf(accountId)).map(toSession),
    async remove(id, accountId) {
      const row = await rowOf(id)
      return row?.account_id === accountId && removeRows([row])
    },
    removeAll: async (accountId, exceptId) => removeRows((await rowsOf(accountId)).filter(({ id }) => id !== exceptId)),
    async touch(id, lastUsedAt) {
      await sessions.updateTable(table).set({ last_used_at: lastUsedAt.getTime() }).where('id', '=', id).execute()
    },
    async replace(id, from, { refresh, expiresAt, lastUsedAt }) {
      if ((await rowOf(id))?.refresh !== from) return false
      const change = { refresh, expires_at: expiresAt.getTime(), last_used_at: lastUsedAt.getTime() }
      const update = sessions.updateTable(table).set(change).where('id', '=', id).where('refresh', '=', from)
      return (await update.executeTakeFirst()).numUpdatedRows > 0n
    },
  }
  return withHints(store, {
    noTable: `kyselySessions: the database has no table "${table}". Call createSessionTable, or add a migration`,
    noColumn,
    isReadOnly: 'kyselySessions: the database is read-only. Connect to the primary, as a user that may write',
  })
}

/**
 * Creates the table of `kyselySessions` and its indexes, each unless it exists. For migrations, docs/guides/stores.md has the statements.
 * @throws TypeError naming the option that is not valid; every error of the database
 */
export async function createSessionTable<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options?: SessionTableOptions,
): Promise<void> {
  const table = readTable('createSessionTable', db, options)
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

  await create(
    db.schema
      .createTable(table)
      .addColumn('id', 'varchar(255)', (column) => column.primaryKey())
      .addColumn('account_id', 'varchar(255)', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('last_used_at', 'bigint', (column) => column.notNull())
      .addColumn('refresh', 'varchar(255)')
      .addColumn('device', 'text', (column) => column.notNull()),
  )
  await create(db.schema.createIndex(`${table}_of_account`).on(table).column('account_id'))
  await create(db.schema.createIndex(`${table}_by_end`).on(table).column('expires_at'))
}

function toRow({
  id,
  accountId,
  createdAt,
  expiresAt,
  lastUsedAt,
  address,
  userAgent,
  label,
  refresh,
}: Session): SessionRow {
  const device = JSON.stringify([address, userAgent, label]).replace(/[^\x20-\x7e]/g, escaped)
  const [created_at, expires_at, last_used_at] = [createdAt.getTime(), expiresAt.getTime(), lastUsedAt.getTime()]
  return { id, account_id: accountId, created_at, expires_at, last_used_at, refresh: refresh ?? null, device }
}

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const dateOf = (milliseconds: SessionRow['created_at']) => new Date(Number(milliseconds))

function toFound({ account_id: accountId, created_at, expires_at, last_used_at, refresh }: SessionRow): FoundSession {
  return {
    accountId,
    createdAt: dateOf(created_at),
    expiresAt: dateOf(expires_at),
    lastUsedAt: dateOf(last_used_at),
    refresh,
  }
}

function toSession(row: SessionRow): Session {
  // Kysely's `ParseJSONResultsPlugin` has read it already.
  const values = typeof row.device === 'string' ? JSON.parse(row.device) : row.device
  const [address, userAgent, label] = values as (string | null)[]
  const device = { address: address ?? null, userAgent: userAgent ?? null, label: label ?? null }
  return { ...(toFound(row) as Session), id: row.id, ...device }
}
