import type { Kysely, Transaction } from 'kysely'
import type { FoundSession, Session, SessionStore } from '../sessions/session.js'
import { withHints } from './kysely-errors.js'
import { asciiJson, createTable, dateOf, openTable, type Table } from './kysely-table.js'

/** The options of `kyselySessions` and `createSessionTable`. */
export interface SessionTableOptions {
  /** The name of the table. Default `'sessions'`. */
  table?: string | undefined
}

/** A row of the table. */
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

const TABLE: Table<SessionRow> = {
  store: 'kyselySessions',
  create: 'createSessionTable',
  defaultName: 'sessions',
  columns: {
    id: 'key',
    account_id: 'name',
    created_at: 'time',
    expires_at: 'time',
    last_used_at: 'time',
    refresh: 'name or null',
    device: 'json',
  },
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
  const { table, rows, rowOf, rowsOf, removeRows, add, hints } = openTable(db, options, TABLE)

  const store: Required<SessionStore> = {
    add: (session) => add(toRow(session), Date.now()),
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
      await rows.updateTable(table).set({ last_used_at: lastUsedAt.getTime() }).where('id', '=', id).execute()
    },
    async replace(id, from, { refresh, expiresAt, lastUsedAt }) {
      if ((await rowOf(id))?.refresh !== from) return false
      const change = { refresh, expires_at: expiresAt.getTime(), last_used_at: lastUsedAt.getTime() }
      const update = rows.updateTable(table).set(change).where('id', '=', id).where('refresh', '=', from)
      return (await update.executeTakeFirst()).numUpdatedRows > 0n
    },
  }
  return withHints(store, hints)
}

/**
 * Creates the table of `kyselySessions` and its indexes, each unless it exists. For migrations, docs/guides/stores.md has the statements.
 * @throws TypeError naming the option that is not valid; every error of the database
 */
export async function createSessionTable<DB>(
  db: Kysely<DB> | Transaction<DB>,
  options?: SessionTableOptions,
): Promise<void> {
  await createTable(db, options, TABLE)
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
  const device = asciiJson([address, userAgent, label])
  const [created_at, expires_at, last_used_at] = [createdAt.getTime(), expiresAt.getTime(), lastUsedAt.getTime()]
  return { id, account_id: accountId, created_at, expires_at, last_used_at, refresh: refresh ?? null, device }
}

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
