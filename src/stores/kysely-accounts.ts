import type { Insertable, Kysely, Selectable, Transaction } from 'kysely'
import type { Account, AccountStore, CreateContext, NewAccount } from '../accounts/account.js'
import { func, text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { type Check, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { isPlainObject, parseJson } from '../options/values.js'
import { type AccountRow, accountChanges, isStorable, type NewColumns } from './kysely-account-changes.js'
import type { Rows } from './kysely-account-table.js'
import { type Hints, withHints } from './kysely-errors.js'
import { kyselyOption } from './kysely-option.js'

/** The members of an account that a column can hold. */
export type AccountColumn = Exclude<keyof Account, 'claims'> | 'email'

/** The options of `kyselyAccounts`. */
export interface KyselyAccountsOptions<DB, Table extends keyof DB & string, Members = object> {
  /** Name of your table. */
  table: Table
  /**
   * Column names. Optional columns are `disabled` (a boolean, or 0 and 1), `scopes` (an array or JSON), `tokensValidAfter` (a time, or
   * milliseconds since 1970) and `lifetime`. Default: `{ id: 'id', email: 'email', passwordHash: 'password_hash' }`.
   */
  columns?: Partial<Record<AccountColumn, keyof DB[Table] & string>> | undefined
  /**
   * Function that receives the row and returns additional account members, such as `claims`, which override the columns. Default: none.
   *
   * Your own members reach `beforeSignIn` and `req.user`.
   */
  read?: ((row: Selectable<DB[Table]>) => Members & Partial<Account>) | undefined
  /** Function that normalizes an address before it is looked up or stored. Default: the address as the client sent it. */
  normalizeEmail?: ((email: string) => string) | undefined
  /**
   * A function that receives a new account (including its `signUp.fields`) and `{ tenant, req }`, and returns the row's columns, except the
   * address and the hash. Default: one column per member, and an id from the table.
   */
  create?:
    | ((
        account: NewAccount,
        context: CreateContext,
      ) => Partial<Insertable<DB[Table]>> | Promise<Partial<Insertable<DB[Table]>>>)
    | undefined
}

type Columns = Partial<Record<AccountColumn, string>> & Record<'id' | 'email' | 'passwordHash', string>

const DEFAULTS = { id: 'id', email: 'email', passwordHash: 'password_hash' }
const KNOWN: readonly string[] = ['id', 'email', 'passwordHash', 'disabled', 'scopes', 'tokensValidAfter', 'lifetime']

const columnNames: Check<Columns> = (value = {}) => {
  const names: unknown = isPlainObject(value) ? { ...DEFAULTS, ...value } : undefined
  const isName = ([member, name]: [string, unknown]) =>
    KNOWN.includes(member) && typeof name === 'string' && name !== ''
  if (isPlainObject(names) && Object.entries(names).every(isName)) return names as Columns
  throw new InvalidOption(
    `an object with the names of columns: ${KNOWN.join(', ')}`,
    "Pass claims with the option 'read'",
  )
}

const schema = {
  table: text('the name of a table'),
  columns: columnNames,
  read: optional(func<(row: never) => Partial<Account>>('a function')),
  normalizeEmail: optional(func<(email: string) => string>('a function'), (email: string) => email),
  create: optional(func<NewColumns>('a function')),
}

/**
 * Creates an account store on the app's own table, in PostgreSQL, MySQL, MariaDB, SQLite or SQL Server.
 * @throws TypeError naming the option that is not valid
 */
export function kyselyAccounts<DB, Table extends keyof DB & string, Members = object>(
  db: Kysely<DB> | Transaction<DB>,
  options: KyselyAccountsOptions<DB, Table, Members>,
): Required<AccountStore<Account & Members>> {
  const caller = 'kyselyAccounts'
  kyselyOption(caller, db)
  const given = options as unknown as { [K in keyof typeof schema]: unknown }
  const { table, columns, read, normalizeEmail, create } = readOptions<typeof given, typeof schema>(
    caller,
    given,
    schema,
  )
  const accounts = db as unknown as Rows

  async function find(column: string, value: string): Promise<AccountRow | undefined> {
    // These make a query fail in PostgreSQL.
    if (!isStorable(value)) return undefined
    return accounts.selectFrom(table).selectAll().where(column, '=', value).executeTakeFirst()
  }

  /** Compares exactly, because a database may take another text for the same id. */
  async function rowById(id: string): Promise<AccountRow | undefined> {
    const row = await find(columns.id, id)
    return row && String(row[columns.id]) === id ? row : undefined
  }

  function accountOf(row: AccountRow): Account & Members {
    const missing = Object.values(columns).find((column) => !Object.hasOwn(row, column))
    if (missing !== undefined) {
      throw misuse(`kyselyAccounts: the table "${table}" has no column "${missing}". Name it in "columns"`)
    }
    const { disabled, scopes, tokensValidAfter, lifetime } = columns
    return {
      id: String(row[columns.id]),
      email: row[columns.email] as Account['email'],
      passwordHash: (row[columns.passwordHash] ?? null) as string | null,
      ...(disabled && { disabled: Boolean(row[disabled]) }),
      ...(scopes && { scopes: listOf(row[scopes]) }),
      ...(tokensValidAfter && { tokensValidAfter: timeOf(row[tokensValidAfter]) }),
      ...(lifetime && { lifetime: row[lifetime] as Account['lifetime'] }),
      ...read?.(row as never),
    } as Account & Members
  }

  const names = Object.values(columns).join(', ')
  const hints: Hints = {
    noTable: `kyselyAccounts: the database has no table "${table}". Name yours in "table"`,
    noColumn: `kyselyAccounts: the table "${table}" lacks a column of ${names}. Name yours in "columns"`,
    isReadOnly: 'kyselyAccounts: the database is read-only. Connect to the primary, as a user that may write',
  }
  const store: Omit<Required<AccountStore<Account & Members>>, 'normalizeEmail'> = {
    async findByEmail(email) {
      const address = normalizeEmail(email)
      const row = await find(columns.email, address)
      return row && blanksAfter(String(row[columns.email])) === blanksAfter(address) ? accountOf(row) : undefined
    },
    async findById(id) {
      const row = await rowById(id)
      return row && accountOf(row)
    },
    async replacePasswordHash(id, from, to) {
      const row = await rowById(id)
      if (!row || (row[columns.passwordHash] ?? null) !== from) return false
      const update = accounts.updateTable(table).set({ [columns.passwordHash]: to })
      const changed = update
        .where(columns.id, '=', row[columns.id])
        .where(columns.passwordHash, from === null ? 'is' : '=', from)
      const { numUpdatedRows } = await changed.executeTakeFirst()
      return numUpdatedRows > 0n
    },
    ...accountChanges({ db: accounts, table, columns, normalizeEmail, create, hints, rowById, accountOf }),
  }
  return { ...withHints(store, hints), normalizeEmail }
}

/** Some databases ignore blanks at the end, so that an address would have any number of spellings. */
const blanksAfter = (address: string) => address.length - address.trimEnd().length

/** A column of JSON is text in some databases. Another value causes the error of an invalid account. */
const listOf = (value: unknown) => (typeof value === 'string' ? parseJson(value) : (value ?? [])) as Account['scopes']

function timeOf(value: unknown): Account['tokensValidAfter'] {
  if (value == null) return undefined
  // Some drivers return 64-bit integers as text or as bigint.
  return new Date(/^\d+$/.test(String(value)) ? Number(value) : (value as Date | string))
}
