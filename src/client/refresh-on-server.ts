import { REFRESH_COOKIE } from '../http/refresh-cookie-name.js'
import { createController, within } from './abort.js'
import { readClientOptions, type TokenClientOptions } from './client-options.js'
import { callTokenEndpoint } from './sign-in/token-call.js'
import { TokenClientError } from './token-client-error.js'

/** The options of `refreshOnServer`. */
export interface ServerRefreshOptions extends Pick<TokenClientOptions, 'url' | 'path' | 'timeout' | 'fetch'> {
  /** Headers to send to your API, such as `X-Forwarded-For` with the browser's address. Default: `{}`. */
  headers?: Readonly<Record<string, string>> | undefined
}

/** The user of a request for a page. */
export interface ServerSession {
  /** The access token for calls of your API. Undefined: nobody is signed in. */
  readonly token: string | undefined
  /** The expiration by this machine's clock. Undefined without a token. */
  readonly expiresAt: Date | undefined
  /** The values of `Set-Cookie` that the response with the page must have, each in its own header line. */
  readonly setCookies: readonly string[]
}

const NOBODY: ServerSession = { token: undefined, expiresAt: undefined, setCookies: [] }
const isRefreshCookie = (text: string) => text.startsWith(`${REFRESH_COOKIE}=`)
/** The characters of a cookie (RFC 6265 section 4.1.1). `fetch` would show a cookie with others in its error. */
const isPlain = (text: string) => /^[\x21-\x7e]*$/.test(text)

/**
 * Refreshes the session of a browser on the server that renders its page: cookie → access token. Nothing is kept between two calls, and
 * only the refresh cookie is sent to the API.
 * @param cookie the header `Cookie` of the request for the page
 * @returns nobody without the cookie, and for a session that is over
 * @throws TokenClientError when the API fails or cannot be reached: the user stays signed in. TypeError for an invalid option
 */
export async function refreshOnServer(
  cookie: string | null | undefined,
  { headers, ...options }: ServerRefreshOptions,
): Promise<ServerSession> {
  const settings = readClientOptions({ ...options, refresh: 'cookie', credentials: () => ({}) })
  const pairs = cookie?.split(/;[ \t]*/) ?? []
  const sent = pairs.filter((pair) => isRefreshCookie(pair) && isPlain(pair)).join('; ')
  if (!sent) return NOBODY
  let setCookies: string[] = []
  const own = new Headers(headers)
  own.set('Cookie', sent)
  async function fetchOnce(url: unknown, init?: RequestInit): Promise<Response> {
    // Frameworks cache what `fetch` returns.
    const response = await settings.fetch(url as string, { ...init, headers: own, cache: 'no-store' } as RequestInit)
    setCookies = response.headers.getSetCookie().filter(isRefreshCookie)
    return response
  }
  try {
    const late = new TokenClientError('unreachable')
    const [grant] = await within(settings.timeout, createController().signal, late, (signal) =>
      callTokenEndpoint({ ...settings, fetch: fetchOnce as typeof fetch }, '/refresh', undefined, signal),
    )
    return { token: grant?.token, expiresAt: new Date(grant?.expiresAt ?? 0), setCookies }
  } catch (error) {
    if ((error as TokenClientError).code !== 'refused') throw error
    return { ...NOBODY, setCookies }
  }
}
