import { bool } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { type Check, checkThat, optional, readOptions } from '../options/read-options.js'
import { isExposed } from '../options/urls.js'

/** The option `refresh.cookie` of `createAuth`: which pages may use the cookie with the refresh token. */
export interface RefreshCookieOptions {
  /** `'strict'` accepts pages on the API's site. `'none'` accepts pages on any site if `allowedOrigins` contains their origin. Default: `'strict'`. */
  sameSite?: 'strict' | 'none' | undefined
  /**
   * Makes browsers keep a separate cookie per site (CHIPS), even if they block third-party cookies. Requires
   * `sameSite: 'none'`. Default: `true` with `sameSite: 'none'`.
   */
  partitioned?: boolean | undefined
  /**
   * Set to `'/'` to also receive the cookie with page requests, for
   * [server-rendered pages](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/pages-and-apps.md#server-rendered-pages).
   * Default: the path of the token endpoint.
   */
  path?: '/' | undefined
}

/** The attributes of the cookie. */
export interface RefreshCookieSettings {
  /** The attributes that tell the browser which pages may send the cookie. */
  sites: string
  /** True for a cookie that a browser adds to requests of every site. Then only the origin of a request tells whether it may have the cookie. */
  ofEverySite: boolean
  /** The path of the cookie. Undefined: that of the token endpoint. */
  path: '/' | undefined
}

const CALLER = 'createAuth: option "refresh.cookie"'

const schema = {
  sameSite: optional(
    checkThat<'strict' | 'none'>("'strict' or 'none'", (value) => value === 'strict' || value === 'none'),
    'strict' as const,
  ),
  partitioned: optional(bool),
  path: optional(checkThat<'/'>("'/'", (value) => value === '/')),
}

/** Reads the option `cookie`. */
export const refreshCookieOption: Check<RefreshCookieSettings> = (value) => {
  const { sameSite, partitioned, path } = readOptions<RefreshCookieOptions, typeof schema>(
    CALLER,
    value as object,
    schema,
  )
  if (sameSite === 'none')
    return { sites: `SameSite=None${(partitioned ?? true) ? '; Partitioned' : ''}`, ofEverySite: true, path }
  if (partitioned) throw misuse(`${CALLER}: "partitioned" needs "sameSite": 'none'`)
  return { sites: 'SameSite=Strict', ofEverySite: false, path }
}

/**
 * Returns the origins whose pages may use a cookie of every site. Undefined for a cookie of the API's site.
 * @throws TypeError without an origin, and for an origin whose pages others can change on their way
 */
export function originsOfCookie(
  { ofEverySite }: Pick<RefreshCookieSettings, 'ofEverySite'>,
  allowedOrigins: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  if (!ofEverySite) return undefined
  if (allowedOrigins.size === 0)
    throw misuse(
      'createAuth: option "refresh.cookie" with "sameSite": \'none\' needs "allowedOrigins". List the origin of every page',
      PAGE.otherSites,
    )
  if ([...allowedOrigins].some((origin) => isExposed({ origin })))
    throw misuse(
      'createAuth: option "allowedOrigins" contains an http origin. Use https, because browsers send the cookie with requests from other sites',
      PAGE.otherSites,
    )
  return allowedOrigins
}
