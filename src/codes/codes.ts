import { hash, randomBytes } from 'node:crypto'
import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { warnOnce } from '../events/warnings.js'
import { type Duration, duration, hasMethods, integer, text } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { aliasesOf, describe, named, optional, readOptions } from '../options/read-options.js'
import { isValidDate, memberOf, parseJson } from '../options/values.js'

/** A code as a store holds it. The code itself is not in it. */
export interface StoredCode {
  /** The digest of the code and its purpose: 43 characters of base64url. */
  digest: string
  /** The use that the code is for. */
  purpose: string
  /** The account that the code is for. */
  accountId: string
  /** The end of the code. The store may delete the code from then on. */
  expiresAt: Date
  /** The data of the code as JSON, or null. */
  data: string | null
}

/** A store of codes. Each method may return a promise. */
export interface CodeStore {
  /**
   * Stores a code, unless its account has `most` codes of this purpose that have not expired at `now`. Returns whether the code was stored.
   */
  add(code: StoredCode, most: number, now: Date): boolean | Promise<boolean>
  /** Returns a code, and leaves it in the store. */
  find(digest: string): StoredCode | null | undefined | Promise<StoredCode | null | undefined>
  /** Removes a code and returns it. Of two calls at once, one gets the code. */
  take(digest: string): StoredCode | null | undefined | Promise<StoredCode | null | undefined>
  /** Removes the codes of an account: of one purpose, or all of them. */
  removeAll(accountId: string, purpose?: string): unknown
}

/** The settings of the codes of an app. */
export interface CodesSettings {
  store: CodeStore
  /** The time limit for a call of the store, in milliseconds. */
  timeout: number
  now(): number
}

/** A new code. */
export interface NewCode {
  /** The use that the code is for, for example `verify-email`. A code for another purpose is refused. */
  purpose: string
  /** The account that the code is for. */
  accountId: string
  /** The time until the code expires. Default 1 hour. 1 s to 366 days. */
  lifetime?: Duration | undefined
  /** The most codes of this account and purpose that have not expired. Default 5; 1 to 100. */
  maxPerAccount?: number | undefined
  /** Further data, which `find` and `take` return: JSON of at most 4,096 characters. Default none. */
  data?: unknown
}

/** A code that was found or taken. */
export interface TakenCode {
  /** The account that the code is for. */
  accountId: string
  /** The data of the code. Undefined without data. */
  data: unknown
}

/** Codes that work once: for links to verify an address, to reset a password or to sign in: `auth.codes`. */
export interface Codes {
  /**
   * Creates a code, and stores its digest. Send the code to the user and keep it nowhere: it is 43 characters of base64url, and holds 256
   * random bits.
   * @throws AuthError `too_many_attempts` when the account has too many codes of this purpose, `unavailable` when the store fails. TypeError
   * that names an invalid member
   */
  create(code: NewCode): Promise<string>
  /**
   * Finds a code and uses up nothing, so that a request that fails can be sent again with the same code. Call `take` when the code has worked.
   * @returns undefined for a code that is unknown, was used, has expired or is for another purpose
   * @throws AuthError `unavailable` when the store fails
   */
  find(purpose: string, code: unknown): Promise<TakenCode | undefined>
  /**
   * Takes a code: it works once, and only for its purpose.
   * @returns undefined for a code that is unknown, was used or has expired
   * @throws AuthError `unavailable` when the store fails
   */
  take(purpose: string, code: unknown): Promise<TakenCode | undefined>
  /**
   * Removes the codes of an account, for example after a password change.
   * @param purpose only the codes of this purpose. Default: all
   * @throws AuthError `unavailable` when the store fails
   */
  removeAll(accountId: string, purpose?: string): Promise<void>
}

const LONGEST_DATA = 4096
/** The text of a code. */
const CODE = /^[\w-]{43}$/

/** The methods of a store of codes. */
export const CODE_METHODS: readonly (keyof CodeStore)[] = ['add', 'find', 'take', 'removeAll']

export const isCodeStore = (value: unknown): value is CodeStore => hasMethods(value, CODE_METHODS)

const nonEmpty = text('a non-empty string')
const newSchema = {
  purpose: nonEmpty,
  accountId: nonEmpty,
  lifetime: optional(duration(1000, 366 * 86_400_000), 3_600_000),
  maxPerAccount: optional(integer(1, 100, 'a number of codes'), 5),
  data: (value: unknown) => value,
}

/** The purpose is part of the digest, so that no other purpose can use up a code. */
const digestOf = (purpose: string, code: string) => hash('sha256', JSON.stringify([purpose, code]), 'base64url')

/** Creates the single-use codes of an app. */
export function createCodes({ store: codes, timeout, now: clock }: CodesSettings): Codes {
  const call = <T>(run: () => Promise<T>) => callHost('codes', run, { timeout })

  async function read(method: 'find' | 'take', purpose: string, code: unknown): Promise<TakenCode | undefined> {
    named(`codes.${method}: the purpose`, nonEmpty, purpose, PAGE.sessionOptions)
    if (typeof code !== 'string' || !CODE.test(code)) {
      if (CODE.test(purpose)) warnOnce('swappedCode')
      return undefined
    }
    const digest = digestOf(purpose, code)
    return call(async () => readStored(method, await codes[method](digest), digest, new Date(clock())))
  }

  return Object.freeze({
    async create(one: NewCode) {
      const options = readOptions<NewCode, typeof newSchema>(
        'codes.create',
        one,
        newSchema,
        aliasesOf({ lifetime: 'expiresIn ttl' }),
      )
      const { purpose, accountId, lifetime, maxPerAccount } = options
      const data = options.data === undefined ? null : JSON.stringify(options.data)
      if (data === undefined || (data?.length ?? 0) > LONGEST_DATA)
        throw misuse(`codes.create: "data" must be JSON of at most ${LONGEST_DATA} characters`)
      const code = randomBytes(32).toString('base64url')
      const now = new Date(clock())
      const expiresAt = new Date(now.getTime() + lifetime)
      const stored = { digest: digestOf(purpose, code), purpose, accountId, expiresAt, data }
      const isStored: unknown = await call(async () => codes.add(stored, maxPerAccount, now))
      if (isStored !== true)
        throw new AuthError('too_many_attempts', {
          retryAfter: Math.ceil(lifetime / 1000),
          accountId,
          message: 'Too many codes for this account. Try again later.',
        })
      return code
    },
    find: (purpose: string, code: unknown) => read('find', purpose, code),
    take: (purpose: string, code: unknown) => read('take', purpose, code),
    async removeAll(accountId: string, purpose?: string) {
      named('codes.removeAll: the account id', nonEmpty, accountId, PAGE.sessionOptions)
      if (purpose !== undefined) named('codes.removeAll: the purpose', nonEmpty, purpose, PAGE.sessionOptions)
      await call(async () => codes.removeAll(accountId, purpose))
    },
  })
}

/** @throws TypeError when the store returned another code or another form. The store is wrong, not the client */
function readStored(method: 'find' | 'take', found: unknown, digest: string, now: Date): TakenCode | undefined {
  if (found === undefined || found === null) return undefined
  const [accountId, expiresAt, data] = ['accountId', 'expiresAt', 'data'].map((name) => memberOf(Object(found), name))
  const isCode = typeof accountId === 'string' && accountId !== '' && isValidDate(expiresAt)
  // A SyntaxError of JSON.parse would show a part of the text.
  const read = typeof data === 'string' ? parseJson(data) : undefined
  const isRead = typeof data !== 'string' || read !== undefined
  if (!isCode || !isRead || memberOf(Object(found), 'digest') !== digest)
    throw misuse(
      `codes: ${method} must return undefined or the code as "add" received it, but returned ${describe(found)}`,
    )
  if (!(now < expiresAt)) return undefined
  return { accountId, data: read }
}
