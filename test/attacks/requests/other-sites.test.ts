import express from 'express'
import { memoryStore, type TokenFrom } from 'express-token-endpoint'
import { passkeys } from 'express-token-endpoint/passkeys'
import { describe, expect, it } from 'vitest'
import { FEATURES } from '../../../src/features/features.js'
import { withToken } from '../../../src/features/sign-in.js'
import { authWith } from '../../support/auth.js'
import { ACCOUNTS, PASSWORD, SECRET } from '../../support/fixtures.js'
import { asForm, asJson, expectProblem } from '../../support/host.js'
import { client, listen, sendBytes, TOKEN_PATH } from '../../support/http.js'
import { polluted } from '../../support/pollution.js'
import { cookieOf, membersOf, setCookies, startRefreshHost } from '../../support/refresh-host.js'

const PAGE = 'https://app.example.net'
const FROM_PAGE = { origin: PAGE, 'sec-fetch-site': 'cross-site' }
const CREDENTIALS = { email: ACCOUNTS.alice.email, password: PASSWORD }

const start = (more: Parameters<typeof startRefreshHost>[0] = {}) =>
  startRefreshHost({
    refresh: 'cookie',
    options: { cookie: { sameSite: 'none' } },
    allowedOrigins: [PAGE],
    ...more,
  })

/** Starts an app whose user is signed in at a page of another site. */
async function startSignedIn(more: Parameters<typeof startRefreshHost>[0] = {}) {
  const host = await start(more)
  const answer = await host.post('', CREDENTIALS, FROM_PAGE)
  membersOf(answer)
  return { ...host, answer, cookie: cookieOf(answer) }
}

/** The headers of requests that a browser or an attacker sends with the cookie of the user. */
const ATTACKS: [string, Record<string, string>][] = [
  ['a third site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a third site, in an older browser', { origin: 'https://evil.example' }],
  ['a subdomain of the page', { origin: `https://blog.${PAGE.slice(8)}`, 'sec-fetch-site': 'cross-site' }],
  ['a sibling of the page', { origin: 'https://blog.example.net', 'sec-fetch-site': 'cross-site' }],
  ['a sibling of the API', { origin: 'https://blog.example.com', 'sec-fetch-site': 'same-site' }],
  ['the page with http', { origin: 'http://app.example.net', 'sec-fetch-site': 'cross-site' }],
  ['the page at another port', { origin: `${PAGE}:8443`, 'sec-fetch-site': 'cross-site' }],
  ['a host that begins like the page', { origin: `${PAGE}.evil.example`, 'sec-fetch-site': 'cross-site' }],
  ['the page in other letters', { origin: 'https://APP.example.net', 'sec-fetch-site': 'cross-site' }],
  ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ['the API itself, which is not in the list', { origin: 'https://api.example.com', host: 'api.example.com' }],
  ['the API itself, by Sec-Fetch-Site', { origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' }],
  ['no origin', {}],
  ['no origin, by Sec-Fetch-Site', { 'sec-fetch-site': 'none' }],
  ['an empty origin', { origin: '' }],
  ['a forwarded host', { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }],
  ['two origins', { origin: `${PAGE}, https://evil.example` }],
]

describe('a cookie of every site', () => {
  it('is set, replaced and deleted with the same attributes, and works for the page', async () => {
    const { answer, cookie, post, sessions, alice } = await startSignedIn()
    const end = 'HttpOnly; Secure; SameSite=None; Partitioned'
    expect(setCookies(answer)[0]).toMatch(new RegExp(`; Path=${TOKEN_PATH}; Max-Age=\\d+; ${end}$`))
    const next = await post('/refresh', undefined, { ...FROM_PAGE, cookie })
    membersOf(next)
    expect(setCookies(next)[0]).toContain(end)
    const out = await post('/sign-out', undefined, { ...FROM_PAGE, cookie: cookieOf(next) })
    expect([out.status, setCookies(out)]).toEqual([204, [`__Secure-refresh=; Path=${TOKEN_PATH}; Max-Age=0; ${end}`]])
    expect(await sessions.list(alice.id)).toEqual([])
    const over = await post('/refresh', undefined, { ...FROM_PAGE, cookie: cookieOf(next) })
    expect([over.status, setCookies(over)]).toEqual([403, setCookies(out)])
  })

  it.each(ATTACKS)('is not taken from %s', async (_, headers) => {
    const { cookie, post, sessions, alice } = await startSignedIn()
    const withCookie = { cookie, ...headers }
    for (const answer of [
      await post('/refresh', undefined, withCookie),
      await post('/sign-out', undefined, withCookie),
      await post('/refresh', { refreshToken: 'x' }, withCookie),
      await post('', CREDENTIALS, withCookie),
    ]) {
      expectProblem(answer, 403, 'cross_site_request', 'Forbidden')
      expect(setCookies(answer)).toEqual([])
    }
    expect(await sessions.list(alice.id)).toHaveLength(1)
    membersOf(await post('/refresh', undefined, { ...FROM_PAGE, cookie }))
  })

  it.each(ATTACKS.filter(([name]) => name !== 'no origin'))('is not given to %s', async (_, headers) => {
    const { post, sessions, alice } = await start()
    const answer = await post('', CREDENTIALS, headers)
    expectProblem(answer, 403, 'cross_site_request', 'Forbidden')
    expect(setCookies(answer)).toEqual([])
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('is not taken with a form, with another method, and with an Origin in two lines', async () => {
    const { cookie, send, port, post, sessions, alice } = await startSignedIn()
    const evil = { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const form = asForm(new URLSearchParams(CREDENTIALS).toString())
    for (const path of ['', '/refresh', '/sign-out']) {
      const sent = { ...form, path: TOKEN_PATH + path, headers: { ...form.headers, ...evil } }
      expect((await send(sent)).status).toBe(path === '' ? 415 : 403)
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
        const answer = await send({ method, path: TOKEN_PATH + path, headers: { cookie, ...FROM_PAGE } })
        expect([answer.status, setCookies(answer)]).toEqual([405, []])
        expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
      }
    }
    const lines = `Origin: ${PAGE}\r\nOrigin: https://evil.example\r\nCookie: ${cookie}`
    const text = `POST ${TOKEN_PATH}/sign-out HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n\r\n`
    expect(await sendBytes(port, Buffer.from(text))).toContain(' 403 ')
    expect(await sessions.list(alice.id)).toHaveLength(1)
    membersOf(await post('/refresh', undefined, { ...FROM_PAGE, cookie }))
  })

  it('is not taken because of a polluted prototype', async () => {
    const { cookie, post } = await startSignedIn()
    await polluted({ origin: PAGE }, async () =>
      expect((await post('/refresh', undefined, { cookie })).status).toBe(403),
    )
  })

  it('is checked where a function chooses the mode, and has no effect for an app', async () => {
    const mode = ({ headers }: { headers: Record<string, unknown> }) => (headers['x-app'] ? 'body' : 'cookie')
    const { cookie, post, sessions, alice } = await startSignedIn({ refresh: mode as never })
    expect((await post('/refresh', undefined, { cookie })).status).toBe(403)
    const evil = { cookie, origin: 'https://evil.example', 'x-app': '1' }
    expect((await post('/sign-out', undefined, evil)).status).toBe(415)
    expect((await post('/sign-out', { refreshToken: 'x' }, evil)).status).toBe(204)
    expect(await sessions.list(alice.id)).toHaveLength(1)
  })

  it('a client that is not a browser may sign in without an origin', async () => {
    const { post } = await start()
    membersOf(await post('', CREDENTIALS))
  })

  it.each([
    ['of the page', FROM_PAGE, 1],
    ['of a third site', { origin: 'https://evil.example' }, 2],
    ['without an origin', {}, 2],
  ])(
    'auth.signIn in a custom route ends the session of a cookie only for requests of the page: %s',
    async (_, from, left) => {
      const { auth, cookie, sessions, alice } = await startSignedIn()
      const app = express()
      app.post('/own', async (req, res) => void res.json(await auth.signIn(alice.id, req, res)))
      const { port } = await listen(app)
      expect((await client(port)({ method: 'POST', path: '/own', headers: { cookie, ...from } })).status).toBe(200)
      expect(await sessions.list(alice.id)).toHaveLength(left)
    },
  )

  it('deletes an old cookie so that the browser takes it for a page of another site', async () => {
    const oldRefreshTokens = {
      find: () => undefined,
      remove() {},
      until: new Date('2099-01-01'),
      cookie: { name: 'jid' },
    }
    const { post } = await start({ oldRefreshTokens })
    const answer = await post('/refresh', undefined, { ...FROM_PAGE, cookie: 'jid=dead' })
    expect([answer.status, setCookies(answer)]).toEqual([
      403,
      ['jid=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None'],
    ])
  })

  it('every endpoint that returns a token or reads a refresh token checks the origin', () => {
    const endpoints = Object.values(FEATURES).flatMap((feature) => feature.endpoints as never as object[])
    const acting = endpoints.filter((one) => {
      const { responses, body } = one as { responses: { 200?: { examples?: unknown } }; body?: { of?: unknown } }
      return responses[200]?.examples === withToken.examples || body?.of !== undefined
    }) as { id: string; origin?: string }[]
    expect(acting.map(({ id }) => id).sort()).toMatchInlineSnapshot(`
      [
        "confirmMailSignIn",
        "confirmSignUp",
        "endSignIn",
        "issueToken",
        "passkeySignIn",
        "refreshToken",
      ]
    `)
    for (const { id, origin } of acting) expect([id, origin]).toEqual([id, 'own with cookie'])
  })
})

describe('a token in a cookie, which a browser adds for pages of other sites', () => {
  const PATHS = [
    '/auth/account/totp',
    '/auth/account/recovery-codes',
    '/auth/account/passkeys/options',
    '/sessions/sign-out',
  ]
  const tokenFrom: TokenFrom = ({ headers }, inHeader) => /^token=(.+)/.exec(headers.cookie ?? '')?.[1] ?? inHeader()

  async function startWithCookie() {
    const store = memoryStore()
    const { alice } = ACCOUNTS
    const accounts = { findByEmail: () => alice, findById: () => alice }
    const { rpId, origins } = { rpId: 'example.com', origins: ['https://example.com'] }
    const features = { secondFactor: true, passkeys: passkeys({ rpId, origins }) }
    const auth = authWith({ accounts, store, secret: SECRET, tokenFrom, ...features })
    const { port } = await listen(express().use(auth.router))
    const send = client(port)
    const signedIn = await send({ method: 'POST', path: TOKEN_PATH, ...asJson(CREDENTIALS) })
    const { authenticationToken: token } = membersOf(signedIn)
    const post = (path: string, headers: Record<string, string>) =>
      send({ method: 'POST', path, headers: { host: 'api.example.com', ...headers } })
    return { post, token, sessions: () => store.sessions.list(alice.id) }
  }

  it('does not let them send a POST without a body, which needs no preflight', async () => {
    const { post, token, sessions } = await startWithCookie()
    const cookie = `token=${token}`
    for (const path of PATHS)
      for (const from of [
        { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
        { origin: 'https://blog.example.com', 'sec-fetch-site': 'same-site' },
        { origin: 'null' },
        { origin: 'https://evil.example', authorization: 'Basic eDp5' },
      ])
        expectProblem(await post(path, { cookie, ...from }), 403, 'cross_site_request', 'Forbidden')
    expect(await sessions()).toHaveLength(1)
  })

  it('lets the own page, and a page that sends the header', async () => {
    const { post, token } = await startWithCookie()
    const own = { origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin', cookie: `token=${token}` }
    const other = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', authorization: `Bearer ${token}` }
    for (const from of [own, other]) expect((await post('/auth/account/totp', from)).status).toBe(200)
  })
})
