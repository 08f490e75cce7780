// Tests client/refresh-on-server.ts
import express from 'express'
import { createAuth, memoryAccounts, memoryStore, type RefreshOptions } from 'express-token-endpoint'
import { createTokenClient, TokenClientError } from 'express-token-endpoint/client'
import { refreshOnServer, type ServerRefreshOptions } from 'express-token-endpoint/client/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ACCOUNTS, fastPasswords, PASSWORD, SECRET } from '../support/fixtures.js'
import { listen, TOKEN_PATH } from '../support/http.js'

const { id, email } = ACCOUNTS.alice
const NAME = '__Secure-refresh'
const pairOf = (line = '') => line.split(';')[0] as string

/** Starts an API, and signs a user in as a browser does. */
async function start(
  refresh: Partial<RefreshOptions> = {},
  before: express.RequestHandler = (_req, _res, next) => next(),
) {
  const auth = createAuth({
    issuer: 'https://api.example.com',
    secret: SECRET,
    accounts: memoryAccounts([{ ...ACCOUNTS.alice }, { ...ACCOUNTS.bob }]),
    passwords: fastPasswords(),
    store: memoryStore(),
    refresh: { cookie: { path: '/' }, ...refresh },
  })
  const seen: express.Request[] = []
  const app = express().use((req, _res, next) => {
    seen.push(req)
    next()
  })
  app.use(before, auth.router)
  app.get('/me', auth.guard(), (req, res) => void res.json(auth.userOf(req).id))
  const { url } = await listen(app)
  async function signIn(address = email) {
    const body = JSON.stringify({ email: address, password: PASSWORD })
    const response = await fetch(url + TOKEN_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    const [line = ''] = response.headers.getSetCookie()
    return { line, cookie: pairOf(line) }
  }
  const refreshWith = (cookie: string | null | undefined, more: Partial<ServerRefreshOptions> = {}) =>
    refreshOnServer(cookie, { url, ...more })
  const me = async (token: string | undefined) => {
    const response = await fetch(`${url}/me`, { headers: { Authorization: `Bearer ${token}` } })
    return response.ok ? response.json() : response.status
  }
  return { auth, seen, url, signIn, refresh: refreshWith, me }
}

describe('refreshOnServer', () => {
  it('returns a token of the user, and the cookie for the browser', async () => {
    const { signIn, refresh, me, seen } = await start()
    const { line, cookie } = await signIn()
    expect(line).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Strict$/)
    const headers = { 'X-Forwarded-For': '192.0.2.1', cookie: 'theme=light', Cookie: `${NAME}=other` }
    const session = await refresh(`theme=dark; ${cookie};\tother=${NAME}=x`, { headers: { ...headers } })
    expect(await me(session.token)).toBe(id)
    expect(session.expiresAt?.getTime()).toBeGreaterThan(Date.now())
    expect(session.setCookies).toEqual([expect.stringMatching(new RegExp(`^${NAME}=.*; Path=/; Max-Age=`))])
    expect(pairOf(session.setCookies[0])).not.toBe(cookie)
    const [, sent] = seen
    expect(sent?.headers).toMatchObject({ cookie, 'x-forwarded-for': '192.0.2.1' })
    expect(sent?.headers).not.toHaveProperty('origin')
    // The next request of the browser has the new cookie.
    expect((await refresh(pairOf(session.setCookies[0]))).token).toBeDefined()
  })

  it.each([null, undefined, '', 'theme=dark', `\u00a0${NAME}=a.0.b`, `x${NAME}=a.0.b`])(
    'asks the API for nothing without the cookie: %j',
    async (cookie) => {
      const { refresh, seen } = await start()
      expect(await refresh(cookie)).toEqual({ token: undefined, expiresAt: undefined, setCookies: [] })
      expect(seen).toEqual([])
    },
  )

  it.each(['a.0.b\r\nX-Admin: 1', 'a.0.b\0', 'a.0.\u0100', 'a 0 b'])(
    'sends no cookie with characters that a header must not have, and shows it in no error: %j',
    async (value) => {
      const { refresh, seen } = await start()
      expect((await refresh(`${NAME}=${value}`)).token).toBeUndefined()
      expect(seen).toEqual([])
    },
  )

  it('returns nobody for a session that is over, and deletes its cookie', async () => {
    const { auth, signIn, refresh } = await start()
    const { cookie } = await signIn()
    await auth.sessions.endAll(id)
    const session = await refresh(cookie)
    expect(session).toMatchObject({ token: undefined, setCookies: [expect.stringContaining('Max-Age=0')] })
    expect(await refresh(`${NAME}=garbage`)).toMatchObject({ token: undefined, setCookies: [] })
  })

  it('signs nobody out when several pages are rendered with one cookie, also beside the page itself', async () => {
    const { auth, signIn, refresh, me, url } = await start()
    const { cookie } = await signIn()
    const inBrowser = createTokenClient({
      url,
      refresh: 'cookie',
      credentials: () => expect.fail('asked'),
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, Cookie: cookie } }),
    })
    onTestFinished(inBrowser.close)
    const [restored, ...sessions] = await Promise.all([
      inBrowser.restore(),
      ...Array.from({ length: 8 }, () => refresh(cookie)),
    ])
    expect(restored).toBe(true)
    expect(await Promise.all(sessions.map(({ token }) => me(token)))).toEqual(Array(8).fill(id))
    expect(new Set(sessions.map(({ setCookies }) => pairOf(setCookies[0]))).size).toBe(1)
    expect((await refresh(cookie)).token).toBeDefined()
    expect(await auth.sessions.list(id)).toHaveLength(1)
  })

  it('keeps the users of requests at the same time apart', async () => {
    const { signIn, refresh, me } = await start()
    const cookies = [(await signIn()).cookie, (await signIn(ACCOUNTS.bob.email)).cookie]
    const sessions = await Promise.all(Array.from({ length: 10 }, (_, i) => refresh(cookies[i % 2])))
    const users = await Promise.all(sessions.map(({ token }) => me(token)))
    expect(users).toEqual(Array.from({ length: 10 }, (_, i) => (i % 2 ? ACCOUNTS.bob.id : id)))
  })

  it.each<[string, express.RequestHandler, object]>([
    ['is down', (_req, res) => void res.set('Retry-After', '5').sendStatus(503), { code: 'try_later', status: 503 }],
    ['limits', (_req, res) => void res.sendStatus(429), { code: 'try_later', status: 429 }],
    ['fails', (_req, res) => void res.sendStatus(500), { code: 'unexpected', status: 500 }],
    ['hangs up', (req) => void req.socket.destroy(), { code: 'unreachable' }],
    ['redirects', (_req, res) => res.redirect('https://evil.example/'), { code: 'unexpected', status: 302 }],
    [
      'refuses the origin',
      (_req, res) => void res.status(403).json({ code: 'cross_site_request' }),
      { code: 'unexpected', status: 403 },
    ],
    [
      'has a proxy that refuses',
      (_req, res) => void res.status(403).send('<html>'),
      { code: 'unexpected', status: 403 },
    ],
  ])('rejects when the API %s, and the user stays signed in', async (_, fault, expected) => {
    let isFaulty = false
    const { signIn, refresh } = await start({}, (req, res, next) => (isFaulty ? fault(req, res, next) : next()))
    const { cookie } = await signIn()
    isFaulty = true
    const error = await refresh(cookie).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TokenClientError)
    expect(error).toMatchObject(expected)
    expect(String(error)).not.toContain(cookie)
    isFaulty = false
    expect((await refresh(cookie)).token).toBeDefined()
  })

  it('gives up after the time limit', async () => {
    const { refresh } = await start({}, () => {})
    await expect(refresh(`${NAME}=a.0.b`, { timeout: 0.01 })).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('forbids a cache to keep the response, and sends no cookie of another name on', async () => {
    const inits: RequestInit[] = []
    const respond = async (_: unknown, init?: RequestInit) => {
      inits.push(init as RequestInit)
      const headers = new Headers([
        ['Set-Cookie', 'lb=1; Path=/'],
        ['Set-Cookie', `${NAME}=a.1.b; Path=/`],
      ])
      return Response.json({ authenticationToken: 'T', expiration: '2100-01-01T00:00:00.0Z' }, { headers })
    }
    const url = 'https://api.example.com'
    const { setCookies } = await refreshOnServer(`${NAME}=a.0.b`, { url, fetch: respond as typeof fetch })
    expect(setCookies).toEqual([`${NAME}=a.1.b; Path=/`])
    expect(inits).toEqual([expect.objectContaining({ method: 'POST', cache: 'no-store', redirect: 'manual' })])
    expect(inits[0]).not.toHaveProperty('body')
  })

  it.each<[string, object]>([
    ['"url"', {}],
    ['https', { url: 'http://api.example.com' }],
    ['"timeout"', { url: 'https://api.example.com', timeout: -1 }],
    ['unknown option "cookie"', { url: 'https://api.example.com', cookie: 'x' }],
  ])('rejects with a TypeError that names %s', async (text, options) => {
    const error = await refreshOnServer(null, options as ServerRefreshOptions).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain(text)
  })
})
