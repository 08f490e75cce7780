import { randomUUID } from 'node:crypto'
import { type Duration, isScopeList, tokenAge } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { describe, named } from '../options/read-options.js'
import { isPlainObject, isValidDate, memberOf, own } from '../options/values.js'
import { hashMembersOf } from './mistakes.js'
import { userOf, withAccountId } from './request-user.js'

/** An account, as the host's store returns it. */
export interface Account {
  /** Becomes the token's subject (`sub`). Never empty. */
  id: string
  /** The e-mail address as it is stored. Mails of the account routes go to this text. Default: none. */
  email?: string | null | undefined
  /** A PHC string (`$argon2id$…`), a bcrypt hash, or a text that a hasher accepts. `null`: the account has no password. */
  passwordHash: string | null
  /** True to refuse the account at the token endpoint, and in guards that look the account up. */
  disabled?: boolean | null | undefined
  /** The scopes of this account's tokens (`scope`; RFC 6749 section 3.3). */
  scopes?: readonly string[] | null | undefined
  /** Private claims for the token. They cannot overwrite the claims that the issuer writes. */
  claims?: Readonly<Record<string, unknown>> | null | undefined
  /** The lifetime of this account's tokens, from 1 s. A longer one than the issuer's counts as the issuer's. Default: the issuer's. */
  lifetime?: Duration | null | undefined
  /**
   * Guards that look the account up refuse tokens issued before this time, to the millisecond. Set it to sign out everywhere, or after a
   * password change. A token whose `jti` this package did not write counts from the start of its second.
   */
  tokensValidAfter?: Date | null | undefined
}

/** An account, and the host's own object of it, which is `req.user` as it is. */
export interface AccountAndUser<U extends object = object> {
  /** The account. */
  account: Account
  /** The object for `req.user`, `auth.userOf`, `beforeSignIn`, `allow` and `respond`. Its JSON must not show the password hash. */
  user: U
}

/** The result of a look-up: an account, or an account with the host's own object. */
export type LookUpResult = Account | AccountAndUser

/**
 * The type of `req.user`: the host's own object, if the look-up returned one. Otherwise a row without its password hash. Of an object with
 * methods, only the members of `Account`.
 */
export type UserOf<A> = A extends Account
  ? [{ [K in keyof A]-?: A[K] extends (...args: never[]) => unknown ? K : never }[keyof A]] extends [never]
    ? Omit<A, 'passwordHash'>
    : Pick<A, Exclude<Extract<keyof A, keyof Account>, 'passwordHash'>>
  : A extends AccountAndUser<infer U>
    ? U
    : never

/** The request of a look-up. Each request of Express and of Node's servers fits. */
export interface LookUpRequest {
  /** The headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The host name, from Express. Mind `trust proxy`, and compare it with a list: the client chooses it. */
  readonly hostname?: string
}

/** The sign-in that a look-up is for, for example to select the tenant by the host name. */
export interface LookUpContext {
  /** The request. Undefined for a call of `logIn` without a request. */
  req: LookUpRequest | undefined
  /** The members of the request body that `extraFields` names, as the client sent them. */
  fields: Readonly<Record<string, unknown>>
  /** The tenant, as the option `tenant` returns it. Undefined without that option. */
  tenant: string | undefined
}

/**
 * Finds the account of an e-mail address, or returns `null` or `undefined`. The address is the text that the client sent. The host
 * decides how to compare addresses, for example without regard to letter case.
 */
export type AccountLookup<A extends LookUpResult = Account> = (
  email: string,
  context: LookUpContext,
) => A | null | undefined | Promise<A | null | undefined>

/** The host's account store. */
export interface AccountStore<A extends LookUpResult = Account> {
  /**
   * Finds the account of an e-mail address. Called at most once for each login, and once more after its session has started. When the
   * method throws, returns an invalid account or exceeds the router's `timeout`, the response is `503` and an event reports the failure.
   */
  findByEmail(email: string, context?: LookUpContext): ReturnType<AccountLookup<A>>
  /** Finds an account by its `id`. Guards can call it on every request. Failures have the same result as with `findByEmail`. */
  findById?(id: string): ReturnType<AccountLookup<A>>
  /**
   * Replaces a password hash, if the stored hash is still `from` (compare and swap), where `null` is an account without a password. Called
   * after a login with an outdated hash, for a new password and for a reset. When the method fails after a login, the login succeeds and an
   * event reports the failure.
   * @returns whether the new hash was stored
   */
  replacePasswordHash?(id: string, from: string | null, to: string): Promise<boolean>
  /**
   * Creates an account, whose id no account had before, and returns it as a look-up does. Called by `signUp` after the mailbox was proved.
   * @returns undefined when another account has the address
   */
  create?(account: NewAccount, context: CreateContext): Promise<A | null | undefined>
  /**
   * Replaces the address, if the stored address is still `from` (compare and swap). Called by `changeAddress` after the new mailbox was proved.
   * @returns false when the stored address is another one, or another account has `to`
   */
  replaceEmail?(id: string, from: string, to: string): Promise<boolean>
  /** Removes an account. Its id must never be used again, because an old token would be one of the new account. */
  remove?(id: string): Promise<void>
  /**
   * Returns an address in the form in which the store keeps it. Codes are mailed to this form, so that the mailbox is the one that the account
   * gets. Default: the address as sent.
   */
  normalizeEmail?(email: string): string
  /**
   * Checks that the store can create and remove accounts safely, for example that its table has a unique index on the address. Called once
   * by `createAuth` with `signUp`, `changeAddress` or `deletion`. An error becomes a process warning.
   */
  prepare?(): Promise<void>
}

/** A new account, with the members that `signUp.fields` names, as the client sent them. */
export interface NewAccount {
  /** The address, whose mailbox was proved. */
  readonly email: string
  /** The hash of the password. */
  readonly passwordHash: string
  /** A member that `signUp.fields` names. */
  readonly [field: string]: unknown
}

/** The request of a new account. */
export interface CreateContext {
  /** The tenant, as the option `tenant` returns it. Undefined without that option. */
  tenant: string | undefined
  /** The request. */
  req: LookUpRequest
}

/** An account store as an option, whose `findByEmail` receives the context of each sign-in. */
export interface AccountStoreOption<A extends LookUpResult = Account> extends AccountStore<A> {
  /** Finds the account of an e-mail address, as in `AccountStore`. */
  findByEmail: AccountLookup<A>
}

/** An account that a store returned. */
export interface FoundAccount {
  /** Its checked members. */
  account: Account
  /** The object that the store returned as the account. */
  original: object
  /** The object for `req.user`, and for functions of the host. */
  user: object
}

const MEMBERS = ['id', 'email', 'passwordHash', 'disabled', 'scopes', 'claims', 'tokensValidAfter', 'lifetime']

/**
 * Reads what a store returned: checks an account and copies its members. The copy inherits nothing, and omits other members and null
 * values. Each member is read once, so the copy holds exactly the values that were checked.
 * @throws TypeError that names the invalid field. The store is wrong, not the client
 */
export function readAccount(found: unknown): FoundAccount | undefined {
  if (found === undefined || found === null) return undefined
  if (!isPlainObject(found)) throw wrong('must be an object, null or undefined', found)
  const original = pairedAccountIn(found) ?? found
  const account: Record<string, unknown> = Object.create(null)
  for (const name of MEMBERS) {
    const value = memberOf(original, name)
    const isAbsent = value === undefined || (value === null && name !== 'passwordHash')
    if (!isAbsent) account[name] = Array.isArray(value) ? [...value] : value
  }
  const { id, email, passwordHash, disabled, scopes, claims, tokensValidAfter, lifetime } = account
  if (typeof id !== 'string' || id === '') {
    throw wrong('"id" must be a non-empty string', id, typeof id === 'number' ? '. Return String(id)' : '')
  }
  if (passwordHash !== null && typeof passwordHash !== 'string') {
    const [other] = hashMembersOf(original)
    const hint = other === undefined ? '' : `. Return "${other}" as "passwordHash"`
    throw wrong('"passwordHash" must be a string, or null for an account without a password', passwordHash, hint)
  }
  if (email !== undefined && typeof email !== 'string') throw wrong('"email" must be a string', email)
  if (disabled !== undefined && typeof disabled !== 'boolean') {
    const hint = typeof disabled === 'number' ? '. Return Boolean(disabled)' : ''
    throw wrong('"disabled" must be a boolean', disabled, hint)
  }
  if (scopes !== undefined && !isScopeList(scopes)) {
    const hint = typeof scopes === 'string' ? ". Split the text, for example with .split(' ')" : ''
    throw wrong('"scopes" must be an array of scope tokens', scopes, hint)
  }
  if (claims !== undefined && !isPlainObject(claims)) throw wrong('"claims" must be an object', claims)
  if (tokensValidAfter !== undefined && !isValidDate(tokensValidAfter)) {
    const hint = typeof tokensValidAfter === 'number' ? '. Return new Date(milliseconds)' : ''
    throw wrong('"tokensValidAfter" must be a valid Date', tokensValidAfter, hint)
  }
  if (lifetime !== undefined) named('account: "lifetime"', tokenAge, lifetime, PAGE.accounts)
  const read = account as unknown as Account
  const user = original === found ? userOf(original, read) : own(found, 'user')
  if (!isPlainObject(user)) throw wrong('"user" next to "account" must be an object', user)
  return { account: read, original, user: withAccountId(user, id) }
}

/** Returns the account of a pair `{ account, user }`, which has no password hash. A row with a hash is an account. */
function pairedAccountIn(found: Record<string, unknown>): object | undefined {
  const account = own(found, 'account')
  return isPlainObject(account) && memberOf(found, 'passwordHash') === undefined ? account : undefined
}

function wrong(what: string, value: unknown, hint = ''): TypeError {
  return misuse(`account: ${what}, but is ${describe(value)}${hint}`, PAGE.accounts)
}

/** An account with its e-mail address. */
export type MemoryAccount = Account & {
  /** The e-mail address, compared exactly. */
  email: string
}

/**
 * Creates an account store for tests and demos. It compares addresses exactly, including letter case.
 * @throws TypeError when an account is invalid, or when two accounts share an id or an address
 */
export function memoryAccounts<A extends MemoryAccount>(
  accounts: Iterable<A>,
): Required<Omit<AccountStore<A & MemoryAccount>, 'normalizeEmail' | 'prepare'>> {
  const byEmail = new Map<string, A>()
  const byId = new Map<string, A>()
  function store(account: A): void {
    byEmail.set(account.email, account)
    byId.set(account.id, account)
  }
  for (const account of accounts) {
    if (typeof account?.email !== 'string') throw misuse('memoryAccounts: each account needs an "email"', PAGE.accounts)
    readAccount(account)
    if (byEmail.has(account.email) || byId.has(account.id)) {
      throw misuse('memoryAccounts: two accounts share an id or an email address. Make both unique', PAGE.accounts)
    }
    store(account)
  }
  return {
    findByEmail: (email) => byEmail.get(email),
    findById: (id) => byId.get(id),
    async replacePasswordHash(id, from, to) {
      const account = byId.get(id)
      if (account?.passwordHash !== from) return false
      store({ ...account, passwordHash: to })
      return true
    },
    async create(account) {
      if (byEmail.has(account.email)) return undefined
      const created = { ...account, id: randomUUID() } as unknown as A
      readAccount(created)
      store(created)
      return created
    },
    async replaceEmail(id, from, to) {
      const account = byId.get(id)
      if (account?.email !== from || byEmail.has(to)) return false
      byEmail.delete(from)
      store({ ...account, email: to })
      return true
    },
    async remove(id) {
      byEmail.delete(byId.get(id)?.email ?? '')
      byId.delete(id)
    },
  }
}
