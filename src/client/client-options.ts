import { isExposed } from '../options/urls.js'
import { bare } from './read.js'

/** The credentials of an account, and further members of the request body: JSON values, which are sent as they are. */
export interface Credentials {
  /** The e-mail address of the account. */
  readonly email: string
  /** The password, sent as it is. */
  readonly password: string
  /** False for a session that ends with the browser. With `refresh: 'cookie'`. Default: the server decides. */
  readonly remember?: boolean | undefined
  // biome-ignore lint/suspicious/noExplicitAny: with `unknown`, an interface of an app without further members would not fit.
  readonly [member: string]: any
}

/** The members for a step after the password, for example `{ code }`. They are added to the credentials that were sent before. */
export interface StepFields {
  /** Absent: the address that was sent before. */
  readonly email?: undefined
  /** Absent: the password that was sent before. */
  readonly password?: undefined
  // biome-ignore lint/suspicious/noExplicitAny: as for `Credentials`.
  readonly [member: string]: any
}

/** The members of the body of a step-up: JSON values, which are sent as they are. `onStepUp` returns them. */
export interface StepUpFields {
  /** The password of the account, sent as it is. */
  readonly password?: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: as for `Credentials`.
  readonly [member: string]: any
}

/** The refusal of a sign-in, a step-up or a call of the account routes. */
export interface RefusedSignIn {
  /** The code of the server's problem details (RFC 9457), for example `code_required`. `invalid_credentials` for an empty 403. */
  readonly code: string
  /** The server's explanation for people. Undefined when it sent none. */
  readonly detail: string | undefined
  /** The server's reason for `weak_password`, for example `too_short`. Undefined when it sent none. */
  readonly reason?: string | undefined
}

/** Describes why the client asks for credentials, or for the members of a step-up. */
export interface CredentialsRequest {
  /** The refusal of what was just sent. Only with `interactive`. False when nothing was refused. */
  readonly refused: RefusedSignIn | false
  /** Aborts when the credentials are no longer needed. */
  readonly signal: AbortSignal
}

/** The functions of an app that keep the refresh token. They may return promises. */
export interface RefreshTokenStorage {
  /**
   * Returns the refresh token, and null or undefined when there is none. When it throws or rejects, calls reject with its error, and the
   * user stays signed in.
   */
  load(): string | null | undefined | PromiseLike<string | null | undefined>
  /** Keeps a refresh token in place of the one before. */
  save(refreshToken: string): unknown
  /** Deletes the refresh token, because its session is over. */
  remove(): unknown
}

/**
 * A step-up, or none.
 * @inline
 */
export type StepUp = StepUpFields | false | null | undefined

/** The options of `createTokenClient`. */
export interface TokenClientOptions {
  /** Base URL of your API. Must use `https:`, or `http:` on loopback. */
  url: string | URL
  /**
   * A sync or async function that returns `{ email, password }`. The client calls this function with `{ refused, signal }` for every
   * sign-in, and sends other returned members as JSON. With `remember: false`, the session ends when the browser closes.
   *
   * Called for each sign-in, so that the client does not keep the password. After a refusal with a code other than `invalid_credentials`,
   * it may return only the members to add.
   */
  credentials: (request: CredentialsRequest) => Credentials | StepFields | PromiseLike<Credentials | StepFields>
  /**
   * Set to `true` if a person types the credentials. The client then waits for the credentials without a time limit, calls `credentials`
   * only after the token expires, and allows [more
   * attempts](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/pages-and-apps.md#steps-after-the-password).
   * Default: `false`.
   *
   * It asks once more after a wrong password, and again after a refusal with another code: at most 5 times in one sign-in.
   */
  interactive?: boolean | undefined
  /**
   * Set to `'cookie'` or `{ load, save, remove }` to [stay signed
   * in](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/client.md#stay-signed-in) without calling
   * `credentials` again. Default: none.
   *
   * `'cookie'` for pages: the refresh token is in a cookie that no script can read, and nothing is kept here. `{ load, save, remove }` for
   * apps and scripts: the functions keep the refresh token, and may return promises.
   */
  refresh?: 'cookie' | RefreshTokenStorage | undefined
  /**
   * Path of the token endpoint below `url`. Default: `'/api/v2013/authentication/token'`.
   *
   * It must start with `/`.
   */
  path?: string | undefined
  /**
   * Path of the account routes below `url`. Default: `'/auth/account'`.
   *
   * It must start with `/`.
   */
  accountPath?: string | undefined
  /** Other origins to which the client may send the token, such as a second API. Default: `[]`. */
  origins?: readonly (string | URL)[] | undefined
  /** Time limit in seconds (more than 0, at most 600) for a token request and, without `interactive`, for `credentials`. Default: `10`. */
  timeout?: number | undefined
  /** Maximum time in seconds to wait after a `429` or `503` from the token endpoint (0 to 3,600). Default: `30`. */
  maxWait?: number | undefined
  /**
   * A function that receives a copy of a `401` response when a more recent or stronger sign-in is required. Return `{ password }` to
   * [confirm the
   * sign-in](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/client.md#the-account-of-your-user), or
   * `false` to return the `401` to the caller. Requests with the same requirement share one call. Default: the caller receives the `401`.
   *
   * RFC 9470 section 3. The request is repeated once. The function must not wait for a call that gets the same demand. With `interactive`,
   * it is called again after a refusal, with `{ refused, signal }` as the second argument: at most 5 times for one `401`.
   */
  onStepUp?: ((response: Response, request: CredentialsRequest) => StepUp | PromiseLike<StepUp>) | undefined
  /** Function that sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined
}

/** The defaults of the optional options. A given value must have the type of the default. */
const DEFAULTS: {
  readonly [K in keyof Omit<TokenClientOptions, 'url' | 'credentials' | 'refresh'>]-?: NonNullable<
    TokenClientOptions[K]
  >
} = {
  interactive: false,
  path: '/api/v2013/authentication/token',
  accountPath: '/auth/account',
  origins: [],
  timeout: 10,
  maxWait: 30,
  onStepUp: () => false,
  // Looks up the global for each call, because tools replace it.
  fetch: (...call) => fetch(...call),
}

/** Throws an error that names this client's page. The table of all pages would be too large for browsers. */
export function assertUsage(fits: unknown, text: string): asserts fits {
  if (!fits) throw new TypeError(`${text}. See express-token-endpoint/docs/guides/client.md`)
}

/** Reads a URL that may receive the password or the token. The error does not show the URL, because it may hold a password. */
function secureUrl(value: string | URL, index: number): URL {
  let url: URL | undefined
  try {
    url = new URL(value)
  } catch {
    // The check below throws. `URL.canParse` of Expo returns false for every URL.
  }
  assertUsage(
    url && /^https?:$/.test(url.protocol) && !isExposed(url) && url.href === url.origin + url.pathname,
    `option "${index ? 'origins' : 'url'}" must be https without user, query and fragment`,
  )
  return url
}

/** Checked options. Times are in milliseconds. */
export type ClientSettings = ReturnType<typeof readClientOptions>

/**
 * Reads the options. The server's table of checks would be too large for browsers.
 * @throws TypeError that names the option and the expected value, but not the value itself
 */
export function readClientOptions({ url, credentials, refresh, ...given }: TokenClientOptions) {
  assertUsage(typeof credentials === 'function', 'option "credentials" must be of type function')
  const isStorage = (['load', 'save', 'remove'] as const).every((name) => typeof Object(refresh)[name] === 'function')
  assertUsage(
    refresh === undefined || refresh === 'cookie' || isStorage,
    'option "refresh" must be "cookie" or { load, save, remove }',
  )
  const options = bare(DEFAULTS)
  for (const [name, value] of Object.entries(given)) {
    const type = typeof (options as Record<string, unknown>)[name]
    const hint = /url|base/i.test(name) ? '. Did you mean "url"?' : ''
    assertUsage(type !== 'undefined', `unknown option "${name}"${hint}`)
    if (value === undefined) continue
    assertUsage(typeof value === type, `option "${name}" must be of type ${type}`)
    ;(options as Record<string, unknown>)[name] = value
  }
  const { path, accountPath, origins, timeout, maxWait } = options
  for (const name of ['path', 'accountPath'] as const)
    assertUsage(/^\/[^?#\s\\]*$/.test(options[name]), `option "${name}" must begin with "/"`)
  assertUsage(timeout > 0 && timeout <= 600, 'option "timeout" must be at most 600 seconds')
  assertUsage(maxWait >= 0 && maxWait <= 3600, 'option "maxWait" must be at most 3600 seconds')
  const urls = [url].concat(origins).map(secureUrl)
  const base = String(urls[0]).replace(/\/+$/, '')
  return {
    ...options,
    credentials,
    refresh,
    base,
    endpoint: base + path,
    account: base + accountPath,
    /** The name of the lock and of the note that the tabs of an origin share. */
    name: `express-token-endpoint ${base}${path}`,
    origins: new Set(urls.map(({ origin }) => origin)),
    timeout: timeout * 1000,
    maxWait: maxWait * 1000,
  }
}
