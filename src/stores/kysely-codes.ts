import type { CodeStore, StoredCode } from '../codes/codes.js'
import { parseJson } from '../options/values.js'
import { withHints } from './kysely-errors.js'
import { type AnyDatabase, asciiJson, type Columns, dateOf, openTable } from './kysely-table.js'

/** A row of the table. */
interface CodeRow {
  digest: string
  account_id: string
  purpose: string
  expires_at: number | string | bigint
  /** The data as a text of JSON, or null: Kysely's `ParseJSONResultsPlugin` reads objects and arrays, but no texts. */
  data: string
}

export const CODE_COLUMNS: Columns<CodeRow> = {
  digest: 'key',
  account_id: 'name',
  purpose: 'name',
  expires_at: 'time',
  data: 'json',
}

/** Creates the codes of a store in a table. Each new code deletes the codes that have expired. */
export function kyselyCodes(db: AnyDatabase, name: string): CodeStore {
  const table = openTable(db, name, CODE_COLUMNS)

  const rowsFor = async (accountId: string, purpose?: string) =>
    (await table.rowsOf(accountId)).filter((row) => purpose === undefined || row.purpose === purpose)

  const store: CodeStore = {
    async add({ digest, accountId, purpose, expiresAt, data }, most, now) {
      const count = async () =>
        (await rowsFor(accountId, purpose)).filter(({ expires_at }) => dateOf(expires_at) > now).length
      if ((await count()) >= most) return false
      const row = { digest, account_id: accountId, purpose, expires_at: expiresAt.getTime(), data: asciiJson(data) }
      await table.add(row, now.getTime())
      // Other processes may have added codes since the first count. The last of them counts them all.
      if ((await count()) <= most) return true
      await table.removeRows([row])
      return false
    },
    async find(digest) {
      const row = await table.rowOf(digest)
      return row && codeOf(row)
    },
    async take(digest) {
      const row = await table.rowOf(digest)
      // MySQL has no "delete … returning", so the number of deleted rows says which call gets the code.
      return row && (await table.removeRows([row])) ? codeOf(row) : undefined
    },
    async removeAll(accountId, purpose) {
      await table.removeRows(await rowsFor(accountId, purpose))
    },
  }
  return withHints(store, table.hints)
}

function codeOf({ digest, account_id: accountId, purpose, expires_at, data }: CodeRow): StoredCode {
  // Text that is not JSON stays as it is, and `auth.codes` refuses it. The error of JSON.parse would show a part of it.
  const read = parseJson(data) as string | null | undefined
  return { digest, accountId, purpose, expiresAt: dateOf(expires_at), data: read === undefined ? data : read }
}
