import { describe, isPlainObject, isScopeList } from '../shared/options.js'
import { bare, isValidDate, memberOf } from '../shared/values.js'

/** An account as the host hands it over. */
export interface Account {
  /** Becomes the token's subject (`sub`). Never empty. */
  id: string
  /** A PHC string (`$argon2id$…`) or bcrypt hash, or what one of the hashers accepts. `null`: the account has no password. */
  passwordHash: string | null
  /** Refused at the token endpoint, and by guards that look the account up. */
  disabled?: boolean | null | undefined
  /** What tokens of this account allow (`scope`; RFC 6749 section 3.3). */
  scopes?: readonly string[] | null | undefined
  /** Private claims to put into the token. They cannot overwrite the ones that the issuer writes. */
  claims?: Readonly<Record<string, unknown>> | null | undefined
  /**
   * Tokens issued before this moment are refused by guards that look the account up (password change, sign-out
   * everywhere). Tokens count whole seconds: one issued in the same second, but before or after the moment, is refused.
   */
  tokensValidAfter?: Date | null | undefined
}

/** @inline */
type Found = Account | null | undefined

/**
 * Finds the account of an e-mail address, given as the client sent it; `null` or `undefined` when there is none. Whether letter
 * case matters is the host's decision.
 */
export type AccountLookup = (email: string) => Found | Promise<Found>

/** Where the host keeps its accounts. */
export interface AccountStore {
  /**
   * Finds the account of an e-mail address, at most once a login. What it throws, and an answer that is no account, is a `503`
   * and an event; so is no answer within the router's `timeout`.
   */
  findByEmail: AccountLookup
  /** Finds an account by its `id`. Lets a guard look it up again on every request; failures are as those of `findByEmail`. */
  findById?(id: string): Found | Promise<Found>
  /**
   * Stores a password's new hash, if the stored one is still `from` (compare and swap). Is asked when somebody signs in whose
   * hash is outdated; if it fails, the login goes on, with an event.
   * @returns whether it was stored
   */
  replacePasswordHash?(id: string, from: string, to: string): Promise<boolean>
}

/** The store behind the `accounts` option: a lookup alone is the least of stores. */
export function storeOf(accounts: AccountLookup | AccountStore): AccountStore {
  return typeof accounts === 'function' ? { findByEmail: accounts } : accounts
}

/** An account that a store returned: its checked members, and the host's own object. */
export interface FoundAccount {
  account: Account
  original: object
}

/**
 * Reads what a store returned.
 * @throws TypeError naming the field that is not valid
 */
export function readAccount(original: Found): FoundAccount | undefined {
  const account = checkAccount(original)
  return account && original ? { account, original } : undefined
}

/**
 * Checks what a store returned, and copies the members of an account from it. The copy has no others, inherits nothing, and
 * lacks what the store left out or set to null. Each member is read once, so that nothing else is used than what was checked.
 * @throws TypeError naming the field; a store that returns anything else is at fault, not the client
 */
export function checkAccount(value: unknown): Account | undefined {
  if (value === undefined || value === null) return undefined
  if (!isPlainObject(value)) throw wrong('must be an object, null or undefined', value)
  const id = memberOf(value, 'id')
  const passwordHash = memberOf(value, 'passwordHash')
  const disabled = memberOf(value, 'disabled') ?? undefined
  const given = memberOf(value, 'scopes') ?? undefined
  const scopes: unknown = Array.isArray(given) ? [...given] : given
  const claims = memberOf(value, 'claims') ?? undefined
  const tokensValidAfter = memberOf(value, 'tokensValidAfter') ?? undefined
  if (typeof id !== 'string' || id === '') throw wrong('"id" must be a non-empty string', id)
  if (passwordHash !== null && typeof passwordHash !== 'string') {
    throw wrong('"passwordHash" must be a string, or null for an account without a password', passwordHash)
  }
  if (disabled !== undefined && typeof disabled !== 'boolean') throw wrong('"disabled" must be a boolean', disabled)
  if (scopes !== undefined && !isScopeList(scopes)) throw wrong('"scopes" must be an array of scope tokens', scopes)
  if (claims !== undefined && !isPlainObject(claims)) throw wrong('"claims" must be an object', claims)
  if (tokensValidAfter !== undefined && !isValidDate(tokensValidAfter)) {
    throw wrong('"tokensValidAfter" must be a valid Date', tokensValidAfter)
  }
  return bare({
    id,
    passwordHash,
    ...(disabled !== undefined && { disabled }),
    ...(scopes !== undefined && { scopes }),
    ...(claims !== undefined && { claims }),
    ...(tokensValidAfter !== undefined && { tokensValidAfter }),
  })
}

function wrong(what: string, value: unknown): TypeError {
  return new TypeError(`account: ${what}, but is ${describe(value)}`)
}
