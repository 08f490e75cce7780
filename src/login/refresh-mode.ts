import type { Request, Response } from 'express'
import type { FindById } from '../accounts/find-account.js'
import { AuthError } from '../errors/auth-error.js'
import { type HttpResponse, jsonResponse, type RefreshMode } from '../http/responses.js'
import { LONGEST_AGE, tokenAge } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { aliasesOf, type Check, InvalidOption, named, optional, readOptions } from '../options/read-options.js'
import { ignoreRejection, isPlainObject, own, resultOrUndefined } from '../options/values.js'
import {
  type RefreshTimes,
  type RefreshTimesSettings,
  refreshTimes,
  refreshTimesSchema,
} from '../sessions/refresh/refresh-options.js'
import type { RefreshableSession, RefreshSteps } from '../sessions/refresh/refresh-steps.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import { addCookie } from './refresh-cookie.js'
import { type RefreshCookieOptions, type RefreshCookieSettings, refreshCookieOption } from './refresh-cookie-options.js'

/** The way in which clients keep their refresh tokens, or a function that returns it. */
export type RefreshChoice<R = Request> = RefreshMode | ((req: R) => RefreshMode | undefined)

/** The option `refresh` of `createAuth` as an object. */
export interface RefreshOptions<R = Request> extends RefreshTimes {
  /**
   * `'cookie'`, `'body'`, or a function `(req) => mode`, which can return `undefined` for clients without refresh. Default: `'cookie'` if
   * you pass `cookie`, otherwise required.
   */
  mode?: RefreshChoice<R> | undefined
  /**
   * Cookie attributes `{ sameSite, partitioned, path }`, which determine [which
   * pages](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/pages-and-apps.md#pages-on-another-site)
   * can use the cookie. Default: pages on the API's site.
   */
  cookie?: RefreshCookieOptions | undefined
}

/** The steps and functions that the routes of a router need for refresh tokens. */
export interface RefreshRoutes {
  refreshSteps: RefreshSteps
  findById: FindById
  /** The issuers whose refresh tokens are valid: that of the app, and those of `alsoAccept` whose tokens are of this package. */
  issuers: readonly string[]
  /**
   * Returns how the client of a request keeps its refresh token. Undefined: it gets none.
   * @throws AuthError `unavailable` when the function of the host throws, or returns something else
   */
  modeOf(req: Request): RefreshMode | undefined
  cookie: RefreshCookieSettings
  /** The only origins whose requests may have a cookie that the browser sends for pages of every site. Undefined: it does not. */
  cookieOrigins: ReadonlySet<string> | undefined
}

const MODES: readonly unknown[] = ['cookie', 'body', undefined]

type ModeOf = RefreshRoutes['modeOf']

const CALLER = 'createAuth: option "refresh"'

const modeOption: Check<ModeOf> = (value) => {
  if (value === 'cookie' || value === 'body') return () => value
  if (typeof value !== 'function')
    throw new InvalidOption("'cookie', 'body', or a function of the request that returns one of them")
  return (req) => {
    try {
      const mode: unknown = ignoreRejection(value(req))
      if (MODES.includes(mode)) return mode as RefreshMode | undefined
      throw new TypeError("createAuth: the function \"refresh\" must return 'cookie', 'body' or undefined")
    } catch (cause) {
      throw new AuthError('unavailable', { dependency: 'hook', option: 'refresh', cause })
    }
  }
}

const schema = { mode: optional(modeOption), cookie: optional(refreshCookieOption), ...refreshTimesSchema }

const aliases = aliasesOf({
  idle: 'ttl expiresIn',
  longest: 'maxAge',
  'Pass it to createAuth() as "secret"': 'secret',
})

/** Reads the option `refresh`: a mode, or an object with the mode, the cookie and the times. */
export const refreshOption: Check<RefreshTimesSettings & { modeOf: ModeOf; cookie: RefreshCookieSettings }> = (
  value,
) => {
  const options = isPlainObject(value) ? (value as unknown as RefreshOptions) : { mode: modeOption(value) }
  const { mode, cookie, ...times } = readOptions<RefreshOptions, typeof schema>(CALLER, options, schema, aliases)
  if (cookie && options.mode === 'body') throw misuse(`${CALLER}: "cookie" needs "mode": 'cookie', or a function`)
  const modeOf = mode ?? named(`${CALLER}: option "mode"`, modeOption, cookie && 'cookie')
  return { modeOf, cookie: cookie ?? refreshCookieOption({}), ...refreshTimes(CALLER, times) }
}

/** Returns the subject of a token that does not outlive its session. */
export function withinSession(
  subject: TokenSubject,
  { id, createdAt, expiresAt }: Pick<RefreshableSession, 'id' | 'createdAt' | 'expiresAt'>,
  now: number,
): TokenSubject {
  const signedInAt = own(subject, 'signedInAt') ?? createdAt
  // The clock of the process that set the end may be ahead.
  return { ...withLongest(subject, Math.max(expiresAt.getTime() - now, 1000)), sessionId: id, signedInAt }
}

/** Returns the subject of a token that expires after this time at the latest, in milliseconds. */
export function withLongest(subject: TokenSubject, left: number): TokenSubject {
  const lifetime = own(subject, 'lifetime')
  const longest = Math.min(left, LONGEST_AGE)
  // An invalid lifetime gets its error from `issue`.
  const isLonger = lifetime == null || (resultOrUndefined(() => tokenAge(lifetime)) ?? 0) > longest
  return isLonger ? { ...subject, lifetime: `${longest}ms` } : subject
}

interface RefreshResponse {
  mode: RefreshMode | undefined
  refreshToken: string
  /** False for a cookie that ends with the browser. */
  remember: boolean
  /** The end of the session. */
  expiresAt: Date
  /** The time of the response, in milliseconds. */
  now: number
  /** The path of the token endpoint, as the browser knows it. */
  path: string
  cookie: RefreshCookieSettings
}

/**
 * Returns the response with a new token and its refresh token. In the mode `'cookie'`, the body has no third member.
 * @param res the response for the cookie, required in that mode
 */
export function refreshResponse(
  res: Response | undefined,
  text: string,
  { mode, refreshToken, remember, expiresAt, now, path, cookie }: RefreshResponse,
): HttpResponse {
  if (mode === 'body') return jsonResponse(JSON.stringify({ ...JSON.parse(text), refreshToken }))
  const maxAge = remember ? Math.floor((expiresAt.getTime() - now) / 1000) : undefined
  addCookie(res as Response, { value: refreshToken, path, maxAge, cookie })
  return jsonResponse(text)
}
