import type { Request } from 'express'
import type { OldCookie } from '../../login/refresh-cookie.js'
import { func, HTTP_TOKEN, text } from '../../options/checks.js'
import { misuse } from '../../options/misuse.js'
import { aliasesOf, type Check, checkThat, optional, readOptions } from '../../options/read-options.js'
import { isPlainObject, isValidDate, memberOf } from '../../options/values.js'
import type { NewSession } from '../../sessions/session.js'

/** The facts that the host has of an old refresh token. */
export interface OldRefreshToken {
  /** The id of its account: a text or a whole number. */
  accountId: string | number
  /**
   * The time of its sign-in. An earlier one than `tokensValidAfter` of the account is refused, and `signedInWithin` compares with it,
   * but in an app with `secondFactor` the sign-in is never recent.
   * Default: an unknown time, which is before every other.
   */
  signedInAt?: Date | null | undefined
  /** The name of the device, for the list of sessions. Default: none. */
  label?: NewSession['label']
  /** `false` for a cookie that ends with the browser. Default: `true`. */
  remember?: boolean | undefined
}

/** The request of an old refresh token. */
export interface OldRefreshTokenCall {
  /** The request. */
  req: Request
}

/** The cookie in which browsers keep an old refresh token. */
export interface OldRefreshCookie {
  /** The name of the cookie. */
  name: string
  /** The path that the cookie was set with. Default: `/`. */
  path?: string | undefined
  /** The domain that the cookie was set with. Default: none. */
  domain?: string | undefined
}

/** The option `oldRefreshTokens` of `createAuth`. */
export interface OldRefreshTokensOptions {
  /**
   * A function, `(token, { req })`, that returns `{ accountId, signedInAt }`, or `undefined` if the token is unknown, expired, or disabled.
   * The package calls `find` twice per token, so `find` must not change any data.
   */
  find(
    token: string,
    call: OldRefreshTokenCall,
  ): OldRefreshToken | null | undefined | Promise<OldRefreshToken | null | undefined>
  /**
   * A function, `(token, { req })`, that removes the token, so that `find` returns `undefined`. The package calls `remove` before it
   * responds, and again if the client retries.
   */
  remove(token: string, call: OldRefreshTokenCall): unknown
  /** `Date` when the package starts to reject all old refresh tokens. */
  until: Date
  /** Object `{ name, path, domain }` that describes the old cookie. `path` defaults to `'/'`. Default: none. */
  cookie?: OldRefreshCookie | undefined
}

const CALLER = 'createAuth: option "oldRefreshTokens"'

const cookieSchema = {
  name: text('the name of a cookie', HTTP_TOKEN),
  path: optional(text('the path of the cookie, like "/"', /^\/[\x21-\x3a\x3c-\x7e]*$/), '/'),
  domain: optional(text('the domain of the cookie, like "example.com"', /^[\w.-]+$/)),
}

const cookieOption: Check<OldCookie> = (value) =>
  readOptions(`${CALLER}: "cookie"`, checkThat<OldCookie>('{ name, path }', isPlainObject)(value), cookieSchema)

const schema = {
  find: func<OldRefreshTokensOptions['find']>('a function (token, { req }) => ({ accountId, signedInAt })'),
  remove: func<OldRefreshTokensOptions['remove']>('a function (token, { req }) that deletes the row'),
  until: checkThat<Date>("a valid Date, like new Date('2030-01-31')", isValidDate),
  cookie: optional(cookieOption),
}

/** The settings of the option `oldRefreshTokens`. */
export type OldRefreshTokensSettings = ReturnType<typeof readOldRefreshTokens>

const aliases = aliasesOf({ remove: 'used delete', cookie: 'cookieName' })

const readOldRefreshTokens = (value: unknown) =>
  readOptions<OldRefreshTokensOptions, typeof schema>(
    CALLER,
    checkThat<OldRefreshTokensOptions>('{ find, remove, until }', isPlainObject)(value),
    schema,
    aliases,
  )

export const oldRefreshTokensOption = optional<OldRefreshTokensSettings>(readOldRefreshTokens)

/** The most that the clock of the old system may be ahead, in milliseconds. */
const MOST_AHEAD = 60_000

/**
 * Reads what `find` of the host returned.
 * @param now the time, in milliseconds
 * @throws TypeError for a value that `find` must not return
 */
export function readOldRefreshToken(value: unknown, now: number) {
  if (value === undefined || value === null) return undefined
  const found = Object(value)
  const id = memberOf(found, 'accountId')
  const accountId = Number.isSafeInteger(id) ? String(id) : id
  const signedInAt = memberOf(found, 'signedInAt') ?? new Date(0)
  const remember = memberOf(found, 'remember') ?? true
  const label = memberOf(found, 'label') ?? null
  if (typeof accountId !== 'string' || accountId === '') throw invalid('"accountId", a text or a whole number')
  if (!isValidDate(signedInAt)) throw invalid('"signedInAt", a valid Date')
  // The end of the token, for example, would be later than every `tokensValidAfter`.
  if (signedInAt.getTime() > now + MOST_AHEAD) throw invalid('"signedInAt", a time in the past')
  if (typeof remember !== 'boolean') throw invalid('"remember", true or false')
  if (label !== null && typeof label !== 'string') throw invalid('"label", a text')
  return { accountId, signedInAt, remember, label }
}

const invalid = (what: string) => misuse(`${CALLER}: find must return undefined or an object with ${what}`)
