import type { IncomingHttpHeaders } from 'node:http'
import { AuthError } from '../errors/auth-error.js'
import { bare } from '../options/values.js'

/**
 * Refuses a form that a page of another site sends. Browsers send such forms without asking, so any page could use up the failed
 * logins of its visitor. JSON needs no check: a browser asks first, with a CORS preflight that the host has to allow.
 *
 * Browsers name the relation of the sites in `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata/). Older browsers, and all browsers
 * without https, only name the `Origin`, which must be the host of the request. Other clients send neither.
 * @throws AuthError `cross_site_form`
 */
export function assertOwnSite(headers: IncomingHttpHeaders, allowed: ReadonlySet<string | undefined>): void {
  const { origin, 'sec-fetch-site': site } = headers
  if (allowed.has(origin)) return
  const isOther = site === undefined ? !isAtHost(headers, 'hostname') : site === 'cross-site'
  if (isOther) throw new AuthError('cross_site_form')
}

/**
 * Refuses a request that a page of another origin sends with the cookie of its visitor, also of another origin of the same site. Browsers
 * name the relation as above. Other clients name no origin.
 * @throws AuthError `cross_site_request`
 */
export function assertOwnOrigin(sent: IncomingHttpHeaders, allowed: ReadonlySet<string | undefined>): void {
  if (!isOfOwnOrigin(bare(sent), allowed)) throw new AuthError('cross_site_request')
}

/**
 * Refuses a request that may have a cookie of every site, unless its `Origin` is exactly one of these. A browser adds such a cookie for every
 * page, so that no request with a cookie passes without an `Origin`. Clients that are not browsers have neither before they sign in.
 * @throws AuthError `cross_site_request`
 */
export function assertOriginIn(sent: IncomingHttpHeaders, origins: ReadonlySet<string | undefined>): void {
  if (!isOfOrigin(bare(sent), origins)) throw new AuthError('cross_site_request')
}

/** Returns whether a request is of one of these origins, or has neither an origin nor what a browser adds. */
export function isOfOrigin(
  { origin, cookie, 'sec-fetch-site': site }: IncomingHttpHeaders,
  origins: ReadonlySet<string | undefined>,
): boolean {
  return origins.has(origin) || (origin === undefined && cookie === undefined && site === undefined)
}

/** The schemes whose header a browser adds by itself. */
const OF_BROWSER = /^(basic|digest|negotiate|ntlm)\b/i

/** Returns whether a browser may have added the token of a request by itself, for example as a cookie. A page has to ask before it sets a header. */
export const mayBeOfBrowser = ({ authorization }: IncomingHttpHeaders): boolean =>
  authorization === undefined || OF_BROWSER.test(authorization)

/**
 * Refuses a form of another origin, also of the same site, for a request whose token a browser may have added by itself.
 * @throws AuthError `cross_site_form`
 */
export function assertFormOfOwnOrigin(headers: IncomingHttpHeaders, allowed: ReadonlySet<string | undefined>): void {
  if (!isOfOwnOrigin(headers, allowed)) throw new AuthError('cross_site_form')
}

function isOfOwnOrigin(headers: IncomingHttpHeaders, allowed: ReadonlySet<string | undefined>): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (allowed.has(origin)) return true
  return site === undefined ? isAtHost(headers, 'host') : site === 'same-origin' || site === 'none'
}

/**
 * Returns whether a request names no origin, or one at its own host: with the same name, or with the same name and port. A page cannot send
 * `X-Forwarded-Host`, so a proxy has set it.
 */
function isAtHost(headers: IncomingHttpHeaders, part: 'hostname' | 'host'): boolean {
  const { origin, host, ':authority': authority, 'x-forwarded-host': forwarded } = headers
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const page = new URL(origin)
  return [host, authority, forwarded].some((given) => {
    // With the page's scheme, because a host may omit the default port of that scheme.
    const url = `${page.protocol}//${String(given ?? '').replace(/,.*/s, '')}`
    return URL.canParse(url) && new URL(url)[part] === page[part]
  })
}
