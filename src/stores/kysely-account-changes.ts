import type { AccountStore, CreateContext, NewAccount } from '../accounts/account.js'
import { misuse, PAGE } from '../options/misuse.js'
import { isSqlite, type Rows, tableChecks } from './kysely-account-table.js'
import { type Hints, isError, withHints } from './kysely-errors.js'

/** A row of the host's table. */
export type AccountRow = Record<string, unknown>

/** Returns columns of a new account, in addition to its address and its hash. */
export type NewColumns = (account: NewAccount, context: CreateContext) => object | Promise<object>

interface Settings<A extends object> {
  readonly db: Rows
  readonly table: string
  readonly columns: Readonly<Record<'id' | 'email' | 'passwordHash', string>>
  readonly normalizeEmail: (email: string) => string
  readonly create: NewColumns | undefined
  readonly hints: Hints
  rowById(id: string): Promise<AccountRow | undefined>
  accountOf(row: AccountRow): A
}

type Changes<A extends object> = Required<
  Pick<AccountStore<never>, 'replaceEmail' | 'remove' | 'prepare'> & {
    create(account: NewAccount, context: CreateContext): Promise<A | undefined>
  }
>

/** Returns the methods that create, move and remove accounts. */
export function accountChanges<A extends object>(settings: Settings<A>): Changes<A> {
  const { db, table, columns, normalizeEmail, rowById, accountOf } = settings
  const { id: idColumn, email: emailColumn, passwordHash: hashColumn } = columns
  const checks = tableChecks(db, { table, id: idColumn, email: emailColumn })
  const newColumns = settings.create ?? fieldsAsColumns(Object.values(columns), isSqlite(db))
  // The host's function may return ids that are never used again.
  const checkIds = async () => settings.create ?? checks.newIds()

  /** Returns the rows whose address the database takes for equal. */
  const rowsAt = (address: string) =>
    db.selectFrom(table).selectAll().where(emailColumn, '=', address).execute() as Promise<AccountRow[]>

  async function insert(row: AccountRow): Promise<boolean> {
    try {
      await db.insertInto(table).values(row).execute()
      return true
    } catch (error) {
      if (!isError('isTaken', error)) throw error
      if ((await rowsAt(String(row[emailColumn]))).length > 0) return false
      // Without the cause, because the message of MySQL has the value.
      throw misuse(
        `kyselyAccounts: a unique column of the table "${table}" other than "${emailColumn}" already has the value of a new account${indexIn(error)}. Return a different value from "create", or allow the column to repeat values`,
        PAGE.stores,
      )
    }
  }

  /** Returns the row that was inserted. Removes it when it is not one that an account needs. */
  async function inserted(row: AccountRow): Promise<AccountRow> {
    const [only, ...others] = await rowsAt(String(row[emailColumn]))
    const hasId = (only?.[idColumn] ?? '') !== ''
    if (only && hasId && others.length === 0) return only
    // No other row has this hash, because its salt is random.
    await db.deleteFrom(table).where(hashColumn, '=', row[hashColumn]).execute()
    if (others.length > 0) throw misuse(checks.noUniqueIndex, PAGE.stores)
    throw misuse(
      only
        ? `kyselyAccounts: the table "${table}" does not set "${idColumn}" in new rows. Return it from "create", like { ${idColumn}: randomUUID() }`
        : `kyselyAccounts: the table "${table}" changes the address of a new row, so no login would find it. Return the address as the table stores it from "normalizeEmail"`,
      PAGE.stores,
    )
  }

  const create: Changes<A>['create'] = async (account, context) => {
    await checks.uniqueEmail()
    const address = normalizeEmail(account.email)
    if (!isStorable(address) || (await rowsAt(address)).length > 0) return undefined
    const more = await newColumns(account, context)
    const row = { ...more, [emailColumn]: address, [hashColumn]: account.passwordHash }
    return (await insert(row)) ? accountOf(await inserted(row)) : undefined
  }

  /** Stores an address where the stored one is still another. */
  async function moveRow(row: AccountRow, from: string, to: string): Promise<boolean> {
    const update = db.updateTable(table).set({ [emailColumn]: to })
    const moved = update.where(idColumn, '=', row[idColumn]).where(emailColumn, '=', from)
    try {
      return (await moved.executeTakeFirst()).numUpdatedRows > 0n
    } catch (error) {
      if (isError('isTaken', error)) return false
      throw error
    }
  }

  return {
    async prepare() {
      await checks.uniqueEmail()
      await checkIds()
    },
    ...withHints(
      { create },
      {
        ...settings.hints,
        noColumn: `kyselyAccounts: the table "${table}" lacks a column of a new account. Name yours in "columns", or return them from "create"`,
        isRequired: `kyselyAccounts: a column of the table "${table}" needs a value in each new account. Name the column in "fields" of "signUp", or return it from "create", like { ${idColumn}: randomUUID() }`,
      },
    ),
    async replaceEmail(id, from, to) {
      await checks.uniqueEmail()
      const address = normalizeEmail(to)
      const row = await rowById(id)
      // Compares exactly, because a database may take another text for the same address.
      if (row?.[emailColumn] !== from || !isStorable(address)) return false
      const isOther = (one: AccountRow) => String(one[idColumn]) !== id
      if ((await rowsAt(address)).some(isOther) || !(await moveRow(row, from, address))) return false
      if (!(await rowsAt(address)).some(isOther)) return true
      await moveRow(row, address, from)
      throw misuse(checks.noUniqueIndex, PAGE.stores)
    },
    async remove(id) {
      await checkIds()
      const row = await rowById(id)
      if (row) await db.deleteFrom(table).where(idColumn, '=', row[idColumn]).execute()
    },
  }
}

/** Returns whether every database stores a text as it is. */
export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0')

/** Returns a function that takes each field for a column of its name. No client may set a column that decides about the account. */
function fieldsAsColumns(own: readonly string[], inSqlite: boolean): NewColumns {
  return ({ email: _, passwordHash: __, ...fields }) => {
    const wrong = Object.keys(fields).find((name) => own.includes(name))
    if (wrong !== undefined)
      throw misuse(
        `kyselyAccounts: the field "${wrong}" of a sign-up is a column of the account. Omit it from "fields", or set the column in "create"`,
        PAGE.stores,
      )
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, storable(value, inSqlite)]))
  }
}

/** Returns a value that a driver takes as one value. mysql2 makes SQL of an object, and SQLite has no booleans. */
function storable(value: unknown, inSqlite: boolean): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '')
  if (typeof value === 'boolean') return inSqlite ? Number(value) : value
  return typeof value === 'object' && value !== null ? storable(JSON.stringify(value), inSqlite) : value
}

/** Returns the name of the unique index that refused a row, with a comma and a blank, or nothing. */
function indexIn({ message }: Error): string {
  const name = /(?:for key '|constraint "|failed: )([\w., ]+)['"]?$/.exec(message)?.[1]
  return name === undefined ? '' : ` (${name})`
}
