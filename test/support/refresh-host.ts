import { createServer } from 'node:http'
import express from 'express'
import {
  type AuthEvent,
  type AuthOptions,
  type MemoryAccount,
  type RefreshChoice,
  type RefreshOptions,
  requireBearer,
  type SessionStore,
  type Sessions,
} from 'express-token-endpoint'
import { authWith } from './auth.js'
import { ACCOUNTS, ISSUER, PASSWORD, SECRET } from './fixtures.js'
import { type Answer, asJson } from './host.js'
import { bearer, client, listen, TOKEN_PATH } from './http.js'
import { memorySessions } from './sessions.js'

export const COOKIE = '__Secure-refresh'

interface RefreshHost extends Partial<Omit<AuthOptions, 'store' | 'refresh'>> {
  store?: SessionStore
  issuer?: string
  options?: Omit<RefreshOptions, 'mode'>
  refresh?: RefreshChoice
  /** Runs before the router, for example as a middleware of the host. */
  before?: express.RequestHandler
}

/** Starts an app with refresh, whose clock and accounts the test changes. */
export async function startRefreshHost({
  store = memorySessions(),
  issuer = ISSUER,
  options,
  refresh: mode = 'body',
  before = (_req, _res, next) => next(),
  ...more
}: RefreshHost = {}) {
  const time = { now: Date.parse('2026-01-01T00:00:00.500Z') }
  const clock = () => time.now
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => void events.push(event)
  const list: MemoryAccount[] = [{ ...ACCOUNTS.alice }, { ...ACCOUNTS.bob }]
  const [alice] = list as [MemoryAccount]
  const accounts = {
    findByEmail: (email: string) => list.find((one) => one.email === email),
    findById: (id: string) => list.find((one) => one.id === id),
  }
  const ofSessions = { store: { sessions: store }, secret: SECRET, refresh: { mode, ...options } }
  const auth = authWith({ issuer, lifetime: '10m', clock, accounts, ...ofSessions, onEvent, ...more })
  const sessions = auth.sessions as Sessions
  const guard = requireBearer({ tokens: auth.tokens, store: { sessions: store } })
  const app = express().use(before, auth.router)
  app.get('/me', guard, (req, res) => void res.json(req.auth))
  const { port } = await listen(createServer(app))
  const send = client(port)
  const post = (path: string, body?: object, headers: Record<string, string> = {}) => {
    const sent = body ? asJson(body) : {}
    return send({ ...sent, method: 'POST', path: TOKEN_PATH + path, headers: { ...sent.headers, ...headers } })
  }
  const signIn = ({ email } = alice) => post('', { email, password: PASSWORD })
  const refresh = (refreshToken: unknown) => post('/refresh', { refreshToken })
  const signOut = (refreshToken: unknown) => post('/sign-out', { refreshToken })
  const withCookie = (path: string, cookie: string, headers: Record<string, string> = {}) =>
    post(path, undefined, { cookie, 'sec-fetch-site': 'same-origin', ...headers })
  const get = (path: string, token: string) => send(bearer(token, path))
  const wait = (ms: number) => {
    time.now += ms
  }
  const change = (changes: Partial<MemoryAccount>) => {
    list[0] = { ...(list[0] as MemoryAccount), ...changes }
  }
  const ended = () => events.filter(({ type }) => type === 'session.ended')
  const host = { send, port, post, signIn, refresh, signOut, withCookie, get }
  return { ...host, wait, time, events, ended, sessions, store, alice, change, accounts, auth }
}

/** Returns the members of a response to a sign-in or a refresh. */
export function membersOf({ status, body }: Answer) {
  if (status !== 200) throw new Error(`the response has the status ${status}`)
  return JSON.parse(body) as { authenticationToken: string; expiration: string; refreshToken: string }
}

export const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())
export const setCookies = ({ headers }: Answer) => [headers['set-cookie'] ?? []].flat() as string[]
/** Returns the pair of the first cookie, as a browser sends it. */
export const cookieOf = (answer: Answer) => (setCookies(answer)[0] ?? '').split(';')[0] as string
