import { misuse, PAGE } from '../options/misuse.js'
import { parseJson } from '../options/values.js'
import type { FoundSession, Session, SessionStore } from '../sessions/session.js'
import { withHints } from './kysely-errors.js'
import { type AnyDatabase, ascii, asciiJson, type Columns, dateOf, openTable } from './kysely-table.js'

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
  terms: string | null
  data: string | null
}

export const SESSION_COLUMNS: Columns<SessionRow> = {
  id: 'key',
  account_id: 'name',
  created_at: 'time',
  expires_at: 'time',
  last_used_at: 'time',
  refresh: 'name or null',
  device: 'json',
  terms: 'text or null',
  data: 'text or null',
}

/** Creates the sessions of a store in a table. Each sign-in deletes the sessions that have expired. */
export function kyselySessions(db: AnyDatabase, table: string): Required<SessionStore> {
  const { rows, rowOf, rowsOf, removeRows, add, hints } = openTable(db, table, SESSION_COLUMNS)

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
    async replace(id, from, { refresh, expiresAt, lastUsedAt, terms }) {
      if ((await rowOf(id))?.refresh !== from) return false
      const times = { expires_at: expiresAt.getTime(), last_used_at: lastUsedAt.getTime() }
      const change = { refresh, ...times, ...(terms !== undefined && { terms }) }
      const update = rows.updateTable(table).set(change).where('id', '=', id).where('refresh', '=', from)
      return (await update.executeTakeFirst()).numUpdatedRows > 0n
    },
    async update(id, data) {
      // Not the number of changed rows, which is 0 in some databases when the data is the same.
      await rows
        .updateTable(table)
        .set({ data: ascii(data) })
        .where('id', '=', id)
        .execute()
      return (await rowOf(id)) !== undefined
    },
  }
  return withHints(store, hints)
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
  terms,
}: Session): SessionRow {
  const device = asciiJson([address, userAgent, label])
  const [created_at, expires_at, last_used_at] = [createdAt.getTime(), expiresAt.getTime(), lastUsedAt.getTime()]
  const times = { created_at, expires_at, last_used_at }
  return { id, account_id: accountId, ...times, refresh: refresh ?? null, device, terms: terms ?? null, data: null }
}

function toFound({ account_id: accountId, created_at, expires_at, last_used_at, ...row }: SessionRow): FoundSession {
  return {
    accountId,
    createdAt: dateOf(created_at),
    expiresAt: dateOf(expires_at),
    lastUsedAt: dateOf(last_used_at),
    refresh: row.refresh,
    terms: row.terms,
    // Kysely's `ParseJSONResultsPlugin` has read it already.
    data: row.data === null || typeof row.data === 'string' ? row.data : JSON.stringify(row.data),
  }
}

function toSession(row: SessionRow): Session {
  // Kysely's `ParseJSONResultsPlugin` has read it already.
  const values: unknown = typeof row.device === 'string' ? parseJson(row.device) : row.device
  // A SyntaxError of JSON.parse would show a part of the text.
  if (!Array.isArray(values)) throw misuse('kyselyStore: "device" must be the string that the store wrote', PAGE.stores)
  const [address, userAgent, label] = values as (string | null)[]
  const device = { address: address ?? null, userAgent: userAgent ?? null, label: label ?? null }
  return { ...(toFound(row) as Session), id: row.id, ...device }
}
