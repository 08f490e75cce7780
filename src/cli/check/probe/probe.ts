import { randomBytes } from 'node:crypto'
import type { Guarded, Target } from '../target.js'
import { Fault, Unjudged } from '../verdict.js'
import { JSON_TYPE, type LoginMembers, loginBody } from '../wire/login-body.js'
import { headerWith } from '../wire/wire.js'
import { readJwt, tokenIn } from './read-token.js'
import { isSuccess } from './responses.js'
import type { Received, Send, Sent } from './send.js'
import { signIn } from './sign-in.js'

type Headers = NonNullable<Sent['headers']>

export interface Posted {
  type?: string
  query?: Readonly<Record<string, string>>
  headers?: Headers
}

/** The app as the rows see it. Rows share responses, so each request is sent once. */
export type Probe = ReturnType<typeof createProbe>

export function createProbe(target: Target, send: Send) {
  /** A random text. A response that contains it echoes the request. */
  const mark = `x${randomBytes(4).toString('hex')}`
  const { wire } = target
  const { email: user, password } = target.credentials
  const wrongPassword = otherCase(password)

  async function post(body: string, { type = JSON_TYPE, query = {}, headers }: Posted = {}): Promise<Received> {
    const url = withQuery(target.token, query)
    const all = { 'Content-Type': type, ...wire.login.headers, ...headers }
    const response = await send(url, { method: wire.login.method, headers: all, body })
    if (response.status === 429) throw new Fault('429: a failed-login limit is used up. Try again later')
    return response
  }

  /** Sends a login with these members, as the wire format wants it. */
  function logIn(members: LoginMembers, more: Posted & { as?: 'json' | 'form' } = {}): Promise<Received> {
    const { type, body } = loginBody(wire, members, more.as)
    return post(body, { ...more, type: more.type ?? type })
  }

  const ask = ({ url }: Guarded, headers: Headers = {}, query: Posted['query'] = {}) =>
    send(withQuery(url, query), { headers })
  /** Sends a token to a guarded path. */
  const askWith = (path: Guarded, token: string, query: Posted['query'] = {}) =>
    ask(path, headerWith(wire, token), query)

  const credentials = { user, password }
  /** An address that no account has. Reserved by RFC 2606. */
  const nobody = `${mark}@nobody.invalid`
  const quoted = JSON.stringify(wire.login.password)

  /** Requests that are sent once. The three wrong passwords are the only failed logins of a check. */
  const responses = {
    signedIn: once(() => logIn(credentials)),
    signedInAgain: once(() => logIn(credentials)),
    wrong: once(() => logIn({ user, password: wrongPassword })),
    spaced: once(() => logIn({ user, password: `${password} ` })),
    unknown: once(() => logIn({ user: nobody, password: wrongPassword })),
    malformed: once(() => post(`{${JSON.stringify(wire.login.user)}:"a@nobody.invalid",${quoted}:${mark}}`)),
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
  const readToken = once(async () => {
    const read = readJwt(await token())
    if (!read) throw new Unjudged('the token is not a JWT in compact form')
    return read
  })

  /** The guarded paths that refuse a request without a token. The other rows check only these paths. */
  const closed = once(async () => {
    if (target.guarded.length === 0) throw new Unjudged('no --guarded PATH was given')
    const refuses = async (path: Guarded) => wire.statuses.missingToken.includes((await ask(path)).status)
    return those(target.guarded, refuses, 'refuses a request without a token')
  })
  /** The closed paths that accept the token. */
  const opened = once(async () => {
    const text = await token()
    return those(await closed(), async (path) => isSuccess(await askWith(path, text)), 'accepts the token')
  })
  /** The closed paths that distinguish an invalid token from a missing token. */
  const telling = once(async () =>
    those(
      await closed(),
      async (path) => {
        const [first, second] = [looksOf(await ask(path)), looksOf(await ask(path))]
        // A response with a time or a counter always differs.
        return first === second && looksOf(await askWith(path, mark)) !== first
      },
      'distinguishes an invalid token from a missing token',
    ),
  )

  const other = once(async () => {
    const environment = target.other
    if (!environment) throw new Unjudged('no --other URL was given')
    return { ...environment, token: await signIn(environment, send, wire) }
  })

  return {
    target,
    wire,
    credentials,
    mark,
    send,
    ask,
    askWith,
    post,
    logIn,
    responses,
    token,
    readToken,
    closed,
    opened,
    telling,
    other,
  }
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
  return () => {
    response ??= ask()
    return response
  }
}

async function those(
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

export function withQuery(url: URL, query: Readonly<Record<string, string>>): URL {
  const changed = new URL(url)
  for (const [name, value] of Object.entries(query)) changed.searchParams.append(name, value)
  return changed
}
