import { hash } from 'node:crypto'
import type { FactorStore, StoredFactor } from '../factors/factor-store.js'
import { parseJson } from '../options/values.js'
import { isError, withHints } from './kysely-errors.js'
import { type AnyDatabase, asciiJson, type Columns, dateOf, openTable, type Time } from './kysely-table.js'

/** A row of the table. */
interface FactorRow {
  id: string
  account_id: string
  kind: string
  /** Null for a factor that does not expire. */
  expires_at: Time | null
  /** The digest of the data. Databases cannot compare a long text, or ignore its letter case. */
  data_hash: string
  /** The data as a text of JSON: Kysely's `ParseJSONResultsPlugin` reads objects and arrays, but no texts. */
  data: string
}

export const FACTOR_COLUMNS: Columns<FactorRow> = {
  id: 'key',
  account_id: 'name',
  kind: 'name',
  expires_at: 'time or null',
  data_hash: 'name',
  data: 'json',
}

/** Creates the factors of a store in a table. Each new factor deletes those that have expired. */
export function kyselyFactors(db: AnyDatabase, name: string): FactorStore {
  const table = openTable(db, name, FACTOR_COLUMNS)

  async function count({ accountId, kind }: StoredFactor, now: Date): Promise<number> {
    const factors = (await table.rowsOf(accountId)).map(factorOf)
    return factors.filter((one) => one.kind === kind && isValid(one, now)).length
  }

  /** Inserts a row. Returns false when another process has inserted its id at the same time. */
  const insert = (row: FactorRow, now: Date) =>
    table.add(row, now.getTime()).then(
      () => true,
      (error: unknown) => {
        if (isError('isTaken', error)) return false
        throw error
      },
    )

  const store: FactorStore = {
    async add(factor, most, now) {
      const same = await table.rowOf(factor.id)
      // An insertion that fails would end the host's transaction.
      if ((same && isValid(factorOf(same), now)) || (await count(factor, now)) >= most) return false
      const row = rowOf(factor)
      if (!(await insert(row, now))) return false
      // Other processes may have added factors since the first count. The last of them counts them all.
      if ((await count(factor, now)) <= most) return true
      await table.removeRows([row])
      return false
    },
    async find(id) {
      const row = await table.rowOf(id)
      return row && factorOf(row)
    },
    list: async (accountId) => (await table.rowsOf(accountId)).map(factorOf),
    async replace(id, from, to) {
      const row = await table.rowOf(id)
      if (!row || factorOf(row).data !== from) return false
      const update = table.rows.updateTable(name).set(columnsOf(to))
      const replaced = update.where('id', '=', row.id).where('data_hash', '=', row.data_hash)
      return (await replaced.executeTakeFirst()).numUpdatedRows > 0n
    },
    async remove(id, accountId) {
      const row = await table.rowOf(id)
      return row?.account_id === accountId && table.removeRows([row])
    },
    async removeAll(accountId, kinds) {
      await table.removeRows((await table.rowsOf(accountId)).filter(({ kind }) => kinds.includes(kind)))
    },
  }
  return withHints(store, table.hints)
}

const isValid = ({ expiresAt }: StoredFactor, now: Date) => expiresAt === null || expiresAt > now

/** Returns the columns that change together. */
const columnsOf = (data: string) => ({ data: asciiJson(data), data_hash: hash('sha256', data) })

const rowOf = ({ id, accountId, kind, expiresAt, data }: StoredFactor): FactorRow => ({
  id,
  account_id: accountId,
  kind,
  expires_at: expiresAt === null ? null : expiresAt.getTime(),
  ...columnsOf(data),
})

function factorOf({ id, account_id: accountId, kind, expires_at, data }: FactorRow): StoredFactor {
  // Text that is not JSON stays as it is. The error of JSON.parse would show a part of it.
  const read = parseJson(data) as string | undefined
  return { id, accountId, kind, expiresAt: expires_at === null ? null : dateOf(expires_at), data: read ?? data }
}
