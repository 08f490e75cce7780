import { randomBytes } from 'node:crypto'
import type { Guarded, Target } from '../target.js'
import { Fault, Unjudged } from '../verdict.js'
import { headerWith, JSON_TYPE, type LoginMembers, loginBody } from '../wire/wire.js'
import { isSuccess } from './response.js'
import type { Received, Send, Sent } from './send.js'
import { readJwt, signIn, tokenIn } from './token.js'

type Headers = NonNullable<Sent['headers']>
type Query = Readonly<Record<string, string>>

interface Posted {
  type?: string
  query?: Query
  headers?: Headers
}

/** The app as the rows see it. Rows share responses, so each request is sent once. */
export type Probe = ReturnType<typeof createProbe>

export function createProbe(target: Target, send: Send) {
  /** A random text. A response that contains it echoes the request. */
  const mark = `x${randomBytes(4).toString('hex')}`
  const { wire } = target
  const { email: user, password } = target.credentials
  const credentials = { user, password }

  async function post(body: string, { type = JSON_TYPE, query = {}, headers }: Posted = {}): Promise<Received> {
    const all = { 'Content-Type': type, ...wire.login.headers, ...headers }
    const response = await send(withQuery(target.token, query), { method: wire.login.method, headers: all, body })
    if (response.status === 429) throw new Fault('429: a failed-login limit is used up. Try again later')
    return response
  }

  /** Sends a login with these members, as the wire format wants it. */
  function logIn(members: LoginMembers, more: Posted & { as?: 'json' | 'form' } = {}): Promise<Received> {
    const { type, body } = loginBody(wire, members, more.as)
    return post(body, { type, ...more })
  }

  const ask = ({ url }: Guarded, headers: Headers = {}, query: Query = {}) => send(withQuery(url, query), { headers })
  /** Sends a token to a guarded path. */
  const askWith = (path: Guarded, token: string, query?: Query) => ask(path, headerWith(wire, token), query)

  /** An address that no account has. Reserved by RFC 2606. */
  const nobody = `${mark}@nobody.invalid`
  const wrongPassword = otherCase(password)
  const [userName, passwordName] = [wire.login.user, wire.login.password].map((name) => JSON.stringify(name))

  /** Requests that are sent once. The three wrong passwords are the only failed logins of a check. */
  const responses = {
    signedIn: once(() => logIn(credentials)),
    signedInAgain: once(() => logIn(credentials)),
    wrong: once(() => logIn({ user, password: wrongPassword })),
    spaced: once(() => logIn({ user, password: `${password} ` })),
    unknown: once(() => logIn({ user: nobody, password: wrongPassword })),
    malformed: once(() => post(`{${userName}:"a@nobody.invalid",${passwordName}:${mark}}`)),
    unfinished: once(() => logIn({ user: mark })),
    empty: once(() => logIn({})),
    plainText: once(() => logIn({ user: nobody, password: mark }, { type: 'text/plain' })),
    tooLarge: once(() => logIn({ user: nobody, password: mark.repeat(120_000) })),
    get: once(() => send(target.token)),
    keys: once(() => {
      if (!target.jwks) throw new Unjudged('the mapping has no member "jwks"')
      return send(target.jwks)
    }),
  }

  const token = once(async () => tokenIn(await responses.signedIn(), wire))
  const jwt = once(async () => {
    const read = readJwt(await token())
    if (!read) throw new Unjudged('the token is not a JWT in compact form')
    return read
  })

  const given = once(async () => {
    if (target.guarded.length === 0) throw new Unjudged('no --guarded PATH was given')
    return target.guarded
  })
  /** The guarded paths that refuse a request without a token. The other rows check only these paths. */
  const closed = once(async () => {
    const refuses = async (path: Guarded) => wire.statuses.missingToken.includes((await ask(path)).status)
    return those(await given(), refuses, 'refuses a request without a token')
  })
  /** The closed paths that accept the token. */
  const opened = once(async () => {
    const text = await token()
    return those(await closed(), async (path) => isSuccess(await askWith(path, text)), 'accepts the token')
  })
  /** The closed paths that distinguish an invalid token from a missing token. */
  const telling = once(async () => {
    const distinguishes = async (path: Guarded) => {
      const [first, second] = [looksOf(await ask(path)), looksOf(await ask(path))]
      // A response with a time or a counter always differs.
      return first === second && looksOf(await askWith(path, mark)) !== first
    }
    return those(await closed(), distinguishes, 'distinguishes an invalid token from a missing token')
  })
  const paths = { given, closed, opened, telling }

  const other = once(async () => {
    if (!target.other) throw new Unjudged('no --other URL was given')
    return { ...target.other, token: await signIn(target.other, send, wire) }
  })

  return { target, wire, credentials, mark, send, ask, askWith, post, logIn, responses, token, jwt, paths, other }
}

/** Returns the password in the other case, because a server may compare passwords without case. */
function otherCase(password: string): string {
  const swapped = swapCase(password)
  return swapped === password ? randomBytes(16).toString('hex') : swapped
}

/** Returns a text whose small letters are capitals, and its capitals small. */
export const swapCase = (text: string): string =>
  text.replace(/\p{L}/gu, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()))

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let response: Promise<T> | undefined
  return () => {
    response ??= ask()
    return response
  }
}

/** @throws Unjudged when no path fits */
export async function those(
  paths: readonly Guarded[],
  fits: (path: Guarded) => Promise<boolean>,
  what: string,
): Promise<readonly Guarded[]> {
  const found: Guarded[] = []
  for (const path of paths) if (await fits(path)) found.push(path)
  if (found.length === 0) throw new Unjudged(`no guarded path ${what}`)
  return found
}

/** Returns what distinguishes two refusals of a guard. */
export const looksOf = ({ status, headers, body }: Received): string =>
  JSON.stringify([status, headers['www-authenticate'], body])

export function withQuery(url: URL, query: Query): URL {
  const changed = new URL(url)
  for (const [name, value] of Object.entries(query)) changed.searchParams.append(name, value)
  return changed
}
