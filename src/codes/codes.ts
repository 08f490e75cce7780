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
  /** Further data, which `take` returns: JSON of at most 4,096 characters. Default none. */
  data?: unknown
}

/** A code that was taken. */
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

export const isCodeStore = (value: unknown): value is CodeStore => hasMethods(value, ['add', 'take', 'removeAll'])

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

  return Object.freeze({
    async create(one: NewCode) {
      const read = readOptions<NewCode, typeof newSchema>(
        'codes.create',
        one,
        newSchema,
        aliasesOf({ lifetime: 'expiresIn ttl' }),
      )
      const { purpose, accountId, lifetime, maxPerAccount } = read
      const data = read.data === undefined ? null : JSON.stringify(read.data)
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
    async take(purpose: string, code: unknown) {
      named('codes.take: the purpose', nonEmpty, purpose, PAGE.sessionOptions)
      if (typeof code !== 'string' || !CODE.test(code)) {
        if (CODE.test(purpose)) warnOnce('swappedCode')
        return undefined
      }
      const digest = digestOf(purpose, code)
      return call(async () => readStored(await codes.take(digest), digest, new Date(clock())))
    },
    async removeAll(accountId: string, purpose?: string) {
      named('codes.removeAll: the account id', nonEmpty, accountId, PAGE.sessionOptions)
      if (purpose !== undefined) named('codes.removeAll: the purpose', nonEmpty, purpose, PAGE.sessionOptions)
      await call(async () => codes.removeAll(accountId, purpose))
    },
  })
}

/** @throws TypeError when the store returned another code or another form. The store is wrong, not the client */
function readStored(found: unknown, digest: string, now: Date): TakenCode | undefined {
  if (found === undefined || found === null) return undefined
  const [accountId, expiresAt, data] = ['accountId', 'expiresAt', 'data'].map((name) => memberOf(Object(found), name))
  const isCode = typeof accountId === 'string' && accountId !== '' && isValidDate(expiresAt)
  // A SyntaxError of JSON.parse would show a part of the text.
  const read = typeof data === 'string' ? parseJson(data) : undefined
  const isRead = typeof data !== 'string' || read !== undefined
  if (!isCode || !isRead || memberOf(Object(found), 'digest') !== digest)
    throw misuse(`codes: take must return undefined or the code as "add" received it, but returned ${describe(found)}`)
  if (!(now < expiresAt)) return undefined
  return { accountId, data: read }
}
