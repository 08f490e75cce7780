import type { ClientSettings, RefreshTokenStorage } from '../client-options.js'
import { discard } from '../discard.js'
import { type Grant, isToken } from '../grant.js'
import { isText, readJson, readTime } from '../read.js'
import { systemCode } from '../runtime.js'
import { TokenClientError } from '../token-client-error.js'
import { retryAfter } from './retry-delay.js'

/** A day: the token is used until then, or until a 401. */
const UNKNOWN_LIFETIME = 86_400_000

/** Credentials and a token are short. The rest of a longer response is not read. */
const LONGEST_RESPONSE = 65_536

/** A status of 400 to 499, and the media type of problem details (RFC 9457). */
const PROBLEM = /^4..application\/problem\+json/i

/** The code of a refusal. Other text is not shown in an error. */
const REFUSAL_CODE = /^[\w.:/-]{1,64}$/

/** The routes below the path of the token endpoint. */
export type TokenRoute = '' | '/refresh' | typeof SIGN_OUT | typeof STEP_UP

export const SIGN_OUT = '/sign-out'
export const STEP_UP = '/confirm'

/** A route of the account, whose response has no token. */
export const NO_TOKEN = null

/** The token of a response, and the refresh token in its body. None after a sign-out. */
export type TokenResponse = readonly [grant?: Grant, refreshToken?: string]

/**
 * Returns the request of a route.
 * @param body undefined for an empty body
 */
export const requestOf = ({ refresh }: Pick<ClientSettings, 'refresh'>, body: object | undefined): RequestInit => ({
  method: 'POST',
  ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  // A redirect could send the password to another server.
  redirect: 'manual',
  credentials: refresh === 'cookie' ? 'include' : 'omit',
})

/**
 * Calls a route once, without a token.
 * @param route undefined for a sign-in at another URL
 * @throws TokenClientError
 */
export const callTokenEndpoint = (
  { fetch, ...settings }: ClientSettings,
  route: TokenRoute | undefined | typeof NO_TOKEN,
  body: object | undefined,
  signal: AbortSignal,
  url = settings.endpoint + route,
): Promise<TokenResponse> =>
  readTokenResponse(settings, route, () =>
    fetch(url, {
      ...requestOf(settings, body),
      // A page may close as soon as its user has signed out.
      keepalive: route === SIGN_OUT,
      signal,
    }),
  )

/**
 * Reads the response of a route of this package, or of a sign-in route of the app.
 * @param route undefined for a sign-in at another URL
 * @throws TokenClientError
 */
export async function readTokenResponse(
  { refresh }: Pick<ClientSettings, 'refresh'>,
  route: TokenRoute | undefined | typeof NO_TOKEN,
  send: () => Response | Promise<Response>,
): Promise<TokenResponse> {
  let response: Response
  let text = ''
  let isProblem: boolean
  const isOfSession = route === '/refresh' || route === SIGN_OUT
  try {
    response = await send()
    // A refresh is refused only without a body: after another failure, the user stays signed in.
    isProblem = !isOfSession && PROBLEM.test(`${response.status}${response.headers.get('Content-Type')}`)
    if (response.status === 200 || response.status === 403 || isProblem) text = await readText(response)
    else discard(response)
  } catch (error) {
    throw error instanceof TokenClientError ? error : new TokenClientError('unreachable', systemCode(error))
  }
  const { status, headers } = response
  const now = Date.now()
  const date = Date.parse(headers.get('Date') ?? '')
  // The header has whole seconds. Within its second, this machine's clock is more exact.
  const serverNow = date ? Math.min(Math.max(now, date), date + 999) : now
  if (status === 429 || status === 503) {
    const wait = retryAfter(headers.get('Retry-After'), serverNow)
    throw new TokenClientError('try_later', status, wait ? new Date(now + wait) : undefined)
  }
  if ((route === SIGN_OUT || route === NO_TOKEN) && response.ok) return []
  const { authenticationToken: token, expiration, refreshToken, code, detail, reason } = readJson(text)
  // The specification's refusal has no body. Another 403 comes from a proxy, and says nothing about the password. A refresh without any
  // cookie gets 204.
  const isStored = (refresh as RefreshTokenStorage | undefined)?.save
  const isRefused = status === 403 || (status === 204 && isOfSession && !isStored)
  const refusal = isRefused && !text ? 'invalid_credentials' : isProblem && code
  if (isText(refusal) && REFUSAL_CODE.test(refusal)) {
    const textOf = (value: unknown) => (isText(value) ? value : undefined)
    const refused = { code: refusal, detail: textOf(detail), reason: textOf(reason) }
    throw new TokenClientError('refused', status, undefined, `: ${refusal}`, refused)
  }
  const end = readTime(expiration)
  if (!isToken(token) || !end || end <= date || (isStored && route !== STEP_UP && typeof refreshToken !== 'string')) {
    const hint = status < 500 ? '. Check "path", "refresh" and "allowedOrigins"' : ''
    throw new TokenClientError('unexpected', status, undefined, hint)
  }
  // Without the header, an expiration in the past or soon shows that this machine's clock is wrong.
  const lifetime = date || end > now + 60_000 ? end - serverNow : UNKNOWN_LIFETIME
  return [{ token, lifetime, expiresAt: now + lifetime }, refreshToken as string]
}

/** Returns the body, or an incomplete body when it is too long. */
async function readText(response: Response): Promise<string> {
  // The streams of node-fetch have no reader.
  if (!response.body?.getReader) return response.text()
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  for (let text = ''; ; ) {
    const { done, value } = await reader.read()
    if (done || text.length > LONGEST_RESPONSE) {
      discard({ body: reader })
      return text
    }
    text += decoder.decode(value, { stream: true })
  }
}
