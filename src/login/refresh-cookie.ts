import type { IncomingMessage, ServerResponse } from 'node:http'
import { AuthError } from '../errors/auth-error.js'
import { warnOnce } from '../events/warnings.js'
import { headerOf } from '../http/header-lines.js'
import { REFRESH_COOKIE } from '../http/refresh-cookie-name.js'
import { isExposed } from '../options/urls.js'
import { resultOrUndefined } from '../options/values.js'
import type { RefreshSteps } from '../sessions/refresh/refresh-steps.js'
import type { RefreshTokenFacts } from '../sessions/refresh/refresh-token.js'
import type { RefreshCookieSettings } from './refresh-cookie-options.js'

/** A cookie for the token endpoint and the paths below it, unless its settings name a path. */
interface RefreshCookie {
  value: string
  /** The path of the token endpoint, as the browser knows it. */
  path: string
  /** Seconds until the cookie ends. Undefined: when the browser ends. */
  maxAge: number | undefined
  cookie: RefreshCookieSettings
}

/** Adds the cookie to a response, next to those of the host. Scripts cannot read it. */
export function addCookie(
  res: ServerResponse,
  { value, path, maxAge, cookie: { sites, path: own } }: RefreshCookie,
): void {
  if (res.headersSent) return
  if (value !== '') warnOfHttp(res.req)
  const lasting = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  const cookie = `${REFRESH_COOKIE}=${value}; Path=${attributeOf(own ?? path)}${lasting}; HttpOnly; Secure; ${sites}`
  appendCookie(res, cookie)
}

/** Deletes the cookie. With its settings, because a browser keeps a partitioned cookie apart from another one. */
export const deleteCookie = (res: ServerResponse, path: string, cookie: RefreshCookieSettings) =>
  addCookie(res, { value: '', path, maxAge: 0, cookie })

/** The cookie in which another system has kept its refresh tokens. */
export interface OldCookie {
  name: string
  path: string
  domain?: string | undefined
}

/** Returns the values of an old cookie in a request, as cookie-parser reads them. */
export const oldCookieValues = (req: IncomingMessage, { name }: OldCookie): string[] =>
  cookieValues(req, name).map((value) => resultOrUndefined(() => decodeURIComponent(value)) ?? value)

/** Deletes an old cookie. A browser finds it by its name, path and domain, and takes only `SameSite=None` for a page of another site. */
export function deleteOldCookie(
  res: ServerResponse,
  { name, path, domain }: OldCookie,
  { ofEverySite }: Pick<RefreshCookieSettings, 'ofEverySite'>,
): void {
  if (res.headersSent) return
  const ofDomain = domain ? `; Domain=${domain}` : ''
  const secure = ofEverySite || name.startsWith('__') ? '; Secure' : ''
  const sites = ofEverySite ? '; SameSite=None' : ''
  appendCookie(res, `${name}=; Path=${path}${ofDomain}; Max-Age=0; HttpOnly${secure}${sites}`)
}

function appendCookie(res: ServerResponse, cookie: string): void {
  const others = [res.getHeader('Set-Cookie') ?? []].flat().map(String)
  res.setHeader('Set-Cookie', [...others, cookie])
}

/** A mount path with parameters holds text of the client, which must not become another attribute. */
const attributeOf = (path: string) =>
  path.replace(/[^\x21-\x3a\x3c-\x7e]/g, (character) => encodeURIComponent(character))

/** The most refresh cookies of a request. Each costs a signature, and a valid one a look-up. A browser has one for each path and domain. */
const MOST_COOKIES = 16

/**
 * Returns the newest refresh token of each session in the cookies of a request. A browser may send several cookies of one session.
 * @throws AuthError `invalid_body` for more cookies than a browser has, before one is read
 */
export function presentedIn(
  req: IncomingMessage,
  { read }: Pick<RefreshSteps, 'read'>,
  issuers: readonly string[],
): RefreshTokenFacts[] {
  const texts = cookieValues(req)
  if (texts.length > MOST_COOKIES)
    throw new AuthError('invalid_body', {
      message: `The request contains too many refresh cookies. Send at most ${MOST_COOKIES}.`,
    })
  const newest = new Map<string, RefreshTokenFacts>()
  for (const text of texts) {
    const one = read(text, issuers)
    if (!one) continue
    const known = newest.get(one.sessionId)
    if (!known || known.generation < one.generation) newest.set(one.sessionId, one)
  }
  return [...newest.values()]
}

/** Returns whether a request has a refresh cookie, valid or not. */
export const hasCookie = (req: IncomingMessage) => cookieValues(req).length > 0

/** Returns the values of all cookies with a name in a request, by default of the refresh cookies. Another host of the same domain can add one. */
export function cookieValues(req: IncomingMessage, name: string = REFRESH_COOKIE): string[] {
  const header = headerOf(req, 'cookie')
  if (typeof header !== 'string') return []
  // Not `trim`: browsers do not protect a name that begins with another space, so that a page without https could set it.
  const pairs = header.split(';').map((pair) => pair.replace(/^[ \t]+/, ''))
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}

/** Warns of a request over http whose browser drops the cookie. Behind a proxy, `trust proxy` decides about `req.protocol`. */
function warnOfHttp(req: (IncomingMessage & { protocol?: string; hostname?: string }) | undefined): void {
  if (req?.protocol !== 'http' || req.hostname === undefined) return
  const hostname = req.hostname.toLowerCase()
  const isBehindTls = String(headerOf(req, 'x-forwarded-proto')).startsWith('https')
  if (!isBehindTls && isExposed({ origin: `http://${hostname}` })) warnOnce('cookieOverHttp')
}
