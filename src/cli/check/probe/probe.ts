import { randomBytes } from 'node:crypto'
import type { Guarded } from '../paths.js'
import type { Target } from '../settings.js'
import { Fault, needed, Unjudged } from '../verdict.js'
import { headerWith, type LoginMembers, loginRequest, type Wire } from '../wire/wire.js'
import { isSuccess } from './response.js'
import type { Received, Send, Sent } from './send.js'
import { readJwt, signIn, tokenIn } from './token.js'

type Headers = NonNullable<Sent['headers']>
type Query = Readonly<Record<string, string>>

/** Changes of a login. */
export interface Changes {
  as?: Wire['login']['type']
  headers?: Headers
  query?: Query
  /** Replaces the body. */
  body?: string
}

/** The app as the rows see it. Rows share responses, so each request is sent once. */
export type Probe = ReturnType<typeof createProbe>

export function createProbe(target: Target, send: Send) {
  /** A random text. A response that contains it echoes the request. */
  const mark = `x${randomBytes(4).toString('hex')}`
  const { wire, credentials } = target

  /** Sends a login with these members, as the wire format wants it. */
  async function logIn(members: LoginMembers, { as, headers, query = {}, body }: Changes = {}): Promise<Received> {
    const login = loginRequest(wire, members, as)
    const sent = { ...login, headers: { ...login.headers, ...headers }, body: body ?? login.body }
    const response = await send(withQuery(target.token, query), sent)
    if (response.status === 429) throw new Fault('429: a failed-login limit is used up. Try again later')
    return response
  }

  const ask = ({ url }: Guarded, headers: Headers = {}, query: Query = {}) => send(withQuery(url, query), { headers })
  /** Sends a token to a guarded path. */
  const askWith = (path: Guarded, token: string, query?: Query) => ask(path, headerWith(wire, token), query)

  /** An address that no account has. Reserved by RFC 2606. */
  const nobody = `${mark}@nobody.invalid`
  const wrong = { ...credentials, password: otherCase(credentials.password) }
  const [userName, passwordName] = [wire.login.user, wire.login.password].map((name) => JSON.stringify(name))

  /** Requests that are sent once. The three wrong passwords are the only failed logins of a check. */
  const responses = {
    signedIn: once(() => logIn(credentials)),
    signedInAgain: once(() => logIn(credentials)),
    wrong: once(() => logIn(wrong)),
    spaced: once(() => logIn({ ...credentials, password: `${credentials.password} ` })),
    unknown: once(() => logIn({ ...wrong, user: nobody })),
    malformed: once(() => logIn({}, { as: 'json', body: `{${userName}:"a@nobody.invalid",${passwordName}:${mark}}` })),
    unfinished: once(() => logIn({ user: mark })),
    empty: once(() => logIn({})),
    plainText: once(() => logIn({ user: nobody, password: mark }, { headers: { 'Content-Type': 'text/plain' } })),
    tooLarge: once(() => logIn({ user: nobody, password: mark.repeat(120_000) })),
    get: once(() => send(target.token)),
    keys: once(async () => send(needed(target.jwks, 'the mapping has no member "jwks"'))),
  }

  const token = once(async () => tokenIn(await responses.signedIn(), wire))
  const jwt = once(async () => needed(readJwt(await token()), 'the token is not a JWT in compact form'))

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
    const there = otherOf(target)
    return { ...there, token: await signIn(there, send, wire) }
  })

  return { target, wire, credentials, mark, send, ask, askWith, logIn, responses, token, jwt, paths, other }
}

export const otherOf = ({ other }: Target) => needed(other, 'no --other URL was given')

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
  return () => (response ??= ask())
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
