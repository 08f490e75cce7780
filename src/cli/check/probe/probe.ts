import { randomBytes } from 'node:crypto'
import type { Guarded, Target } from '../target.js'
import { Fault, Unjudged } from '../verdict.js'
import { givenToken, readJwt, tokenIn } from './read-token.js'
import { challengeIn, isSuccess } from './responses.js'
import type { Answer, Send, Sent } from './send.js'
import { signIn } from './sign-in.js'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

export interface Posted {
  type?: string
  query?: Readonly<Record<string, string>>
  headers?: NonNullable<Sent['headers']>
}

/** The app as the rows see it. Rows share responses, so each request is sent once. */
export type Probe = ReturnType<typeof createProbe>

export function createProbe(target: Target, send: Send) {
  /** A random text. A response that contains it echoes the request. */
  const mark = `x${randomBytes(4).toString('hex')}`
  const wrongPassword = randomBytes(16).toString('hex')
  const { credentials } = target
  /** All tokens in responses so far, which must not be printed. */
  const tokens = new Set<string>()

  const sendLogin: Send = async (url, sent) => {
    const answer = await send(url, sent)
    const token = givenToken(answer)
    // Node sends no longer header, so a longer token cannot work.
    if (typeof token === 'string' && token.length <= 16_384) tokens.add(token)
    return answer
  }

  async function post(body: string, { type = JSON_TYPE, query = {}, headers }: Posted = {}): Promise<Answer> {
    const url = withQuery(target.token, query)
    const answer = await sendLogin(url, { method: 'POST', headers: { 'Content-Type': type, ...headers }, body })
    if (answer.status !== 429) return answer
    const wait = answer.headers['retry-after'] ?? 'some'
    throw new Fault(`429: a failed-login limit is used up. Try again in ${wait} seconds`)
  }

  const postJson = (value: unknown, more?: Posted) => post(JSON.stringify(value), more)
  const postForm = (fields: Readonly<Record<string, string>>) =>
    post(new URLSearchParams(fields).toString(), { type: FORM_TYPE })

  const ask = ({ url }: Guarded, authorization?: string | string[], query: Posted['query'] = {}) =>
    send(withQuery(url, query), { headers: authorization === undefined ? {} : { Authorization: authorization } })

  /** Requests that are sent once. The three wrong passwords are the only failed logins of a check. */
  const answers = {
    signedIn: once(() => postJson(credentials)),
    signedInAgain: once(() => postJson(credentials)),
    wrong: once(() => postJson({ ...credentials, password: wrongPassword })),
    spaced: once(() => postJson({ ...credentials, password: `${credentials.password} ` })),
    unknown: once(() => postJson({ email: `${mark}@nobody.invalid`, password: wrongPassword })),
    malformed: once(() => post(`{"email":"a@nobody.invalid","password":${mark}}`)),
    unfinished: once(() => postJson({ email: mark })),
    plainText: once(() => post(`email=${mark}`, { type: 'text/plain' })),
    tooLarge: once(() => postJson({ email: `${mark}@nobody.invalid`, password: mark.repeat(120_000) })),
    get: once(() => send(target.token)),
    keys: once(() => send(target.jwks)),
  }

  const token = once(async () => tokenIn(await answers.signedIn()))
  const readToken = once(async () => {
    const read = readJwt(await token())
    if (!read) throw new Unjudged('the token is not a JWT in compact form')
    return read
  })

  /** The guarded paths that refuse a request without a token. The other rows check only these paths. */
  const closed = once(async () => {
    if (target.guarded.length === 0) throw new Unjudged('no --guarded PATH was given')
    return those(target.guarded, async (path) => (await ask(path)).status === 401, 'refuses a request without a token')
  })
  /** The closed paths that accept the token. */
  const opened = once(async () => {
    const bearer = `Bearer ${await token()}`
    return those(await closed(), async (path) => isSuccess(await ask(path, bearer)), 'accepts the token')
  })
  /** The closed paths that distinguish an invalid token from a missing token. */
  const telling = once(async () =>
    those(
      await closed(),
      async (path) => challengeIn(await ask(path, `Bearer ${mark}`)).error === 'invalid_token',
      'distinguishes an invalid token from a missing token',
    ),
  )

  const other = once(async () => {
    const environment = target.other
    if (!environment) throw new Unjudged('no --other URL was given')
    return { ...environment, token: await signIn(environment, sendLogin) }
  })

  return {
    target,
    mark,
    tokens,
    send,
    ask,
    post,
    postJson,
    postForm,
    answers,
    token,
    readToken,
    closed,
    opened,
    telling,
    other,
  }
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
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

function withQuery(url: URL, query: Readonly<Record<string, string>>): URL {
  const changed = new URL(url)
  for (const [name, value] of Object.entries(query)) changed.searchParams.append(name, value)
  return changed
}
