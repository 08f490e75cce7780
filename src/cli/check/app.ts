import { randomBytes } from 'node:crypto'
import { isPlainObject, parseJson } from '../../options/values.js'
import { type CompactToken, readCompact } from '../../tokens/jwt/compact-jws.js'
import { isSuccess, memberIn } from './response.js'
import type { Received, Send, Sent } from './send.js'
import type { CheckedEndpoint, Target } from './settings.js'
import { Fault, must, needed, Unjudged } from './verdict.js'

/** The parts of a token, not verified. */
export interface ReadToken extends CompactToken {
  claims: Readonly<Record<string, unknown>>
}

/** The app as the rows see it. Rows share responses, so each request is sent once. */
export type CheckedApp = ReturnType<typeof createApp>

export function createApp(target: Target, sendBare: Send) {
  /** A random text. A response that contains it echoes the request. */
  const mark = `x${randomBytes(4).toString('hex')}`
  const { credentials, origin } = target

  /**
   * Sends a request as a page of `--origin` does. A browser names the origin of the page, except with a `GET` or `HEAD` of the API's own origin
   * (https://fetch.spec.whatwg.org/#append-a-request-origin-header).
   */
  const send: Send = (url, sent = {}) => {
    const isNamed = origin !== url.origin || !['GET', 'HEAD'].includes(sent.method ?? 'GET')
    // Another environment and another service may have other pages.
    if (origin === undefined || url.origin !== target.token.origin || !isNamed) return sendBare(url, sent)
    return sendBare(url, { ...sent, headers: { Origin: origin, ...sent.headers } })
  }

  async function call(url: URL, sent: Sent): Promise<Received> {
    const response = await send(url, sent)
    if (response.status === 429) throw new Fault('429: a failed-login limit is used up. Try again later')
    return response
  }

  async function logIn(members: object, sent: Sent = {}, url = target.token): Promise<Received> {
    const headers = { 'Content-Type': 'application/json', ...sent.headers }
    const response = await call(url, { method: 'POST', body: JSON.stringify(members), ...sent, headers })
    if (origin !== undefined && memberIn(response, 'code') === 'cross_site_request')
      throw new Fault('403: the app refuses pages from --origin. Pass an origin from its allowedOrigins')
    // A new sign-in may end the session of an earlier one, as in an app with `maxPerAccount: 1`.
    if (response.status === 200 && url === target.token) newest = response
    return response
  }

  /** The response to the newest login whose session has not ended. */
  let newest: Received | undefined
  /** Says that the session of the newest login has ended. */
  const ended = () => {
    newest = undefined
  }

  const ask = ({ url }: CheckedEndpoint, headers: Sent['headers'] = {}) => send(url, { headers })
  /** Sends a token to a guarded path. */
  const askWith = (path: CheckedEndpoint, token: string) => ask(path, { Authorization: `Bearer ${token}` })

  /** An address that no account has. Reserved by RFC 2606. */
  const nobody = `${mark}@nobody.invalid`
  const wrong = { ...credentials, password: otherCase(credentials.password) }

  /** Requests that are sent once. The three wrong passwords are the only failed logins of a check. */
  const responses = {
    signedIn: once(() => logIn(credentials)),
    signedInAgain: once(() => logIn(credentials)),
    signedInAtOther: once(async () => {
      const other = otherOf(target)
      return logIn(other.credentials, {}, other.token)
    }),
    wrong: once(() => logIn(wrong)),
    spaced: once(() => logIn({ ...credentials, password: `${credentials.password} ` })),
    unknown: once(() => logIn({ ...wrong, email: nobody })),
    keys: once(() => send(urlOf('listTokenKeys'))),
  }

  /** Returns the URL of an endpoint by its id. */
  function urlOf(id: string): URL {
    return target.endpoints.find(({ declared }) => declared.id === id)?.url as URL
  }

  /** The endpoints that the app has: that of the token, and those that refuse another method. */
  const endpoints = once(async () => {
    const found: CheckedEndpoint[] = []
    for (const one of target.endpoints) {
      if (one.declared.id === 'issueToken' || (await send(one.url, { method: 'PUT' })).status === 405) found.push(one)
    }
    return found
  })

  const asked = new Map<string, Promise<Received>>()
  /** Sends a request to an endpoint, once. */
  function askOnce({ name, url, declared: { method } }: CheckedEndpoint, what: string, sent: Sent): Promise<Received> {
    const key = `${what} at ${sent.method ? url : name}`
    const response = asked.get(key) ?? call(url, { method, ...sent })
    asked.set(key, response)
    return response
  }

  /** Returns the response to the login. Unjudged after a refused login, so that only the row about the login fails. */
  async function login(): Promise<Received> {
    const response = await responses.signedIn()
    if (response.status !== 200) throw new Unjudged('the login gave no token')
    return response
  }

  /** Returns the response to a login whose session has not ended. */
  async function live(): Promise<Received> {
    await login()
    return newest ?? logIn(credentials)
  }

  const token = async () => needed(tokenIn(await live()), 'there is no token for this row')

  async function jwt(): Promise<ReadToken> {
    const jwt = readJwt(await token())
    must(jwt, 'the token is not a JWT in compact form')
    return jwt
  }

  async function tokenOfOther(): Promise<string> {
    const token = tokenIn(await responses.signedInAtOther())
    must(token, 'the other environment gave no token')
    return token
  }

  const given = once(async () => {
    if (target.guarded.length === 0) throw new Unjudged('no --guarded PATH was given')
    return target.guarded
  })
  /** The guarded paths that refuse a request without a token. The other rows check only these paths. */
  const guarded = once(async () => {
    const refuses = async (path: CheckedEndpoint) => (await ask(path)).status === 401
    return those(await given(), refuses, 'refuses a request without a token')
  })
  /** The guarded paths that accept the token too. */
  const accepting = once(async () => {
    const text = await token()
    return those(await guarded(), async (path) => isSuccess(await askWith(path, text)), 'accepts the token')
  })
  const paths = { given, guarded, accepting }

  return {
    target,
    credentials,
    mark,
    send,
    sendBare,
    ask,
    askWith,
    logIn,
    ended,
    responses,
    urlOf,
    endpoints,
    askOnce,
    login,
    live,
    token,
    jwt,
    tokenOfOther,
    paths,
  }
}

export const otherOf = ({ other }: Target) => needed(other, 'no --other URL was given')

/** Visible ASCII without the separators of cookies, so that Node can send it in a header. */
const TOKEN = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/

function tokenIn(response: Received): string | undefined {
  const token = response.status === 200 ? memberIn(response, 'authenticationToken') : undefined
  return typeof token === 'string' && TOKEN.test(token) ? token : undefined
}

/** Reads the parts of a token without verifying them. */
export function readJwt(text: string): ReadToken | undefined {
  const compact = readCompact(text)
  const claims = compact && parseJson(compact.payload.toString())
  return compact && isPlainObject(claims) ? { ...compact, claims } : undefined
}

/** Returns the password in the other case, because a server may compare passwords without case. */
function otherCase(password: string): string {
  const swapped = password.replace(/\p{L}/gu, (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  )
  return swapped === password ? randomBytes(16).toString('hex') : swapped
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let response: Promise<T> | undefined
  return () => (response ??= ask())
}

/** @throws Unjudged when no path fits */
export async function those(
  paths: readonly CheckedEndpoint[],
  fits: (path: CheckedEndpoint) => Promise<boolean>,
  what: string,
): Promise<readonly CheckedEndpoint[]> {
  const found: CheckedEndpoint[] = []
  for (const path of paths) if (await fits(path)) found.push(path)
  if (found.length === 0) throw new Unjudged(`no guarded path ${what}`)
  return found
}
