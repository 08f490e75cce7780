import { randomBytes } from 'node:crypto'
import { isPlainObject } from '../../shared/options.js'
import { type CompactToken, parseJson, readCompact } from '../../tokens/jwt/compact-jws.js'
import type { Answer, Send, Sent } from './send.js'
import type { Environment, Guarded, Target } from './target.js'
import { Fault, must, Unjudged } from './verdict.js'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

export interface Posted {
  type?: string
  query?: Readonly<Record<string, string>>
  headers?: NonNullable<Sent['headers']>
}

/** The parts of a token, not verified. */
export interface ReadToken extends CompactToken {
  text: string
  claims: Readonly<Record<string, unknown>>
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

  async function post(body: string, { type = JSON_TYPE, query = {}, headers }: Posted = {}): Promise<Answer> {
    const answer = await send(withQuery(target.token, query), {
      method: 'POST',
      headers: { 'Content-Type': type, ...headers },
      body,
    })
    noteToken(answer)
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

  async function tokenOf(environment: Environment): Promise<string> {
    const { email, password } = environment.credentials
    const { status, body } = await send(environment.token, {
      method: 'POST',
      headers: { 'Content-Type': JSON_TYPE },
      body: JSON.stringify({ email, password }),
    })
    noteToken({ body })
    return tokenIn({ status, body })
  }

  function noteToken({ body }: Pick<Answer, 'body'>): void {
    const result = parseJson(body)
    const token = isPlainObject(result) ? result['authenticationToken'] : undefined
    // Node sends no longer header, so a longer token cannot work.
    if (typeof token === 'string' && token.length <= 16_384) tokens.add(token)
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
    try {
      return { ...environment, token: await tokenOf(environment) }
    } catch (error) {
      if (error instanceof Unjudged) throw new Fault('the other environment gave no token')
      throw error
    }
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

/** @throws Unjudged without a token, so that rows that need a token are skipped and only the row about the login fails */
function tokenIn({ status, body }: Pick<Answer, 'status' | 'body'>): string {
  const result = status === 200 ? parseJson(body) : undefined
  const token = isPlainObject(result) ? result['authenticationToken'] : undefined
  if (typeof token === 'string' && /^[\w.~+/-]+=*$/.test(token)) return token
  throw new Unjudged('there is no token for this row')
}

/** Reads the parts of a token without verifying them. */
export function readJwt(text: string): ReadToken | undefined {
  const compact = readCompact(text)
  const claims = compact && parseJson(compact.payload.toString())
  return compact && isPlainObject(claims) ? { ...compact, text, claims } : undefined
}

export const isSuccess = ({ status }: Pick<Answer, 'status'>) => status >= 200 && status < 300

export function mustBe(status: number, answer: Answer, what: string): void {
  must(answer.status === status, `${what} gets ${answer.status}, not ${status}`)
}

/** @throws Fault unless a response is problem details (RFC 9457) */
export function mustBeProblem({ headers }: Answer, what: string): void {
  const type = headers['content-type'] ?? 'no Content-Type'
  must(/^application\/problem\+json\b/i.test(type), `${what} gets ${type}, not application/problem+json`)
}

/** A stack trace, or a path on the server. */
const INSIDES = /\n\s*at .+:\d+:\d+|&nbsp; at |node_modules|\.[cm]?[jt]s:\d+:\d+/

/** @throws Fault when a refusal shows internals of the server, or repeats the request */
export function mustTellNothing({ body }: Answer, sent: string, what: string): void {
  must(!INSIDES.test(body), `the response to ${what} shows a stack trace or a path on the server`)
  must(!body.includes(sent), `the response to ${what} repeats the request`)
}

/** Reads the bearer challenge of a response (RFC 6750 section 3). */
interface Challenge {
  bearer: boolean
  realm: boolean
  error: string | undefined
  maxAge: string | undefined
}

export function challengeIn({ headers }: Answer): Challenge {
  const challenge = headers['www-authenticate'] ?? ''
  return {
    bearer: /(^|,)\s*Bearer\b/i.test(challenge),
    realm: /\brealm="/i.test(challenge),
    error: /\berror="([^"]*)"/i.exec(challenge)?.[1],
    maxAge: /\bmax_age="?([^",]*)/i.exec(challenge)?.[1],
  }
}

/** Returns the JSON object in the response to the login. */
export async function resultOf({ answers }: Probe): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await answers.signedIn()
  if (status !== 200) throw new Unjudged('the login gave no token')
  const result = parseJson(body)
  must(isPlainObject(result), 'the response is not a JSON object')
  return result
}
