import type { IncomingHttpHeaders } from 'node:http'
import { bare } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'

/**
 * Refuses a form that a page of another site sends. Browsers send such forms without asking, so any page could use up the failed
 * logins of its visitor. JSON needs no check: a browser asks first, with a CORS preflight that the host has to allow.
 *
 * Browsers name the relation of the sites in `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata/). Older browsers, and all browsers
 * without https, only name the `Origin`, which must be the host of the request. Other clients send neither.
 * @throws AuthError `cross_site_form`
 */
export function assertOwnSite(headers: IncomingHttpHeaders, allowed: ReadonlySet<string | undefined>): void {
  const { origin, host, ':authority': authority, 'sec-fetch-site': site, 'x-forwarded-host': forwarded } = headers
  if (allowed.has(origin)) return
  const isOther =
    site === undefined ? origin !== undefined && !isAt(origin, [host, authority, forwarded]) : site === 'cross-site'
  if (isOther) throw new AuthError('cross_site_form')
}

/**
 * Refuses a request that a page of another origin sends with the cookie of its visitor, also of another origin of the same site. Browsers
 * name the relation as above. Other clients name no origin.
 * @throws AuthError `cross_site_request`
 */
export function assertOwnOrigin(headers: IncomingHttpHeaders, allowed: ReadonlySet<string | undefined>): void {
  const { origin, host, ':authority': authority, 'sec-fetch-site': site, 'x-forwarded-host': forwarded } = bare(headers)
  if (allowed.has(origin)) return
  const isOwn =
    site === undefined
      ? origin === undefined || isOrigin(origin, [host, authority, forwarded])
      : site === 'same-origin' || site === 'none'
  if (!isOwn) throw new AuthError('cross_site_request')
}

/** Returns whether an origin has the name and the port of one of the hosts. */
function isOrigin(origin: string, hosts: readonly (string | string[] | undefined)[]): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  return hosts.some((given) => {
    const url = `${protocol}//${String(given ?? '').replace(/,.*/s, '')}`
    return URL.canParse(url) && new URL(url).host === host
  })
}

/** Returns whether an origin is at one of the hosts. A page cannot send `X-Forwarded-Host`, so a proxy has set it. */
function isAt(origin: string, hosts: readonly (string | string[] | undefined)[]): boolean {
  const name = hostnameOf(origin)
  const names = hosts.map((host) => host && hostnameOf(`http://${String(host).replace(/,.*/s, '')}`))
  return name !== undefined && names.includes(name)
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}
