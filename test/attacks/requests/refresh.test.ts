import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2, createServer, type OutgoingHttpHeaders } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import express, { type RequestHandler } from 'express'
import type { SessionStore } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { authWith } from '../../support/auth.js'
import { statuses, until } from '../../support/concurrency.js'
import { ACCOUNTS, ISSUER, PASSWORD, SECRET } from '../../support/fixtures.js'
import { asForm, eavesdropper, expectForbidden, expectProblem, expectUnavailable } from '../../support/host.js'
import { client, flood, listen, sendBytes, TOKEN_PATH } from '../../support/http.js'
import { requestText, sendEndlessly } from '../../support/plain-js/http-client.mjs'
import { polluted } from '../../support/pollution.js'
import { COOKIE, claimsOf, cookieOf, membersOf, setCookies, startRefreshHost } from '../../support/refresh-host.js'
import { memorySessions } from '../../support/sessions.js'

const LOOSE = { form: { 'Content-Type': 'application/x-www-form-urlencoded' } }
const PATHS = ['/refresh', '/sign-out'] as const

/** Counts the look-ups of a store. */
function countingStore() {
  const store = memorySessions()
  const find = vi.fn(store.find)
  return { ...store, find }
}

describe('a cookie that another host of the domain has set', () => {
  it('does not keep a sign-out from ending the session of the user', async () => {
    const { signIn, withCookie, sessions, alice } = await startRefreshHost({ refresh: 'cookie' })
    const [own, tossed] = [cookieOf(await signIn()), cookieOf(await signIn())]
    expect((await withCookie('/sign-out', `${tossed}; ${own}`)).status).toBe(204)
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('is not taken for the cookie, although its name differs only by a space that JavaScript trims', async () => {
    const { signIn, withCookie } = await startRefreshHost({ refresh: 'cookie' })
    const cookie = cookieOf(await signIn())
    for (const space of ['\u00a0', '\u000b', '\u000c']) {
      const bytes = `POST ${TOKEN_PATH}/refresh HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${space}${cookie}\r\n\r\n`
      const { port } = await startRefreshHost({ refresh: 'cookie' })
      expect(await sendBytes(port, Buffer.from(bytes, 'latin1'))).not.toContain(' 200 ')
    }
    expect((await withCookie('/refresh', `\u00a0${cookie}`)).status).toBe(204)
    expect((await withCookie('/refresh', `a=1;\t ${cookie}  `)).status).toBe(200)
  })

  it('causes no look-up when it is forged, and keeps nobody out: 15 of them, and more are refused unread', async () => {
    const store = countingStore()
    const { find } = store
    const { signIn, withCookie } = await startRefreshHost({ refresh: 'cookie', store })
    const cookie = cookieOf(await signIn())
    find.mockClear()
    const forged = (i: number) => `${COOKIE}=${i}.0.${'A'.repeat(43)}`
    const all = (length: number) => Array.from({ length }, (_, i) => forged(i)).join('; ')
    const many = all(15)
    expectForbidden(await withCookie('/refresh', many))
    expect((await withCookie('/refresh', all(150))).status).toBe(400)
    expect(find).not.toHaveBeenCalled()
    expect((await withCookie('/refresh', `${many}; ${cookie}`)).status).toBe(200)
    expect(find).toHaveBeenCalledTimes(1)
  })
})

describe('a page of another origin', () => {
  it.each([
    ['same-site', 'https://blog.example.com'],
    ['cross-site', 'https://evil.example'],
  ])('cannot sign its visitor in with the account of an attacker: %s', async (site, origin) => {
    const { post, send, sessions, alice } = await startRefreshHost({ refresh: 'cookie' })
    const headers = { 'sec-fetch-site': site, origin }
    const form = asForm(new URLSearchParams({ email: alice.email, password: PASSWORD }).toString())
    const answers = [
      await post('', { email: alice.email, password: PASSWORD }, headers),
      await send({ ...form, headers: { ...form.headers, ...headers } }),
    ]
    for (const answer of answers) {
      expect(answer.status).not.toBe(200)
      expect(setCookies(answer)).toEqual([])
    }
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it('may sign in when the host allows it, and in the mode body, which sets no cookie', async () => {
    const headers = { 'sec-fetch-site': 'same-site', origin: 'https://app.example.com' }
    const allowed = await startRefreshHost({ refresh: 'cookie', allowedOrigins: [headers.origin] })
    const body = { email: allowed.alice.email, password: PASSWORD }
    expect((await allowed.post('', body, headers)).status).toBe(200)
    const { post } = await startRefreshHost()
    expect((await post('', body, headers)).status).toBe(200)
  })
})

describe('a body that the endpoint does not need', () => {
  it.each(PATHS)('is not read to its end: %s', async (path) => {
    const { port, signIn } = await startRefreshHost({ refresh: 'cookie' })
    const headers = { cookie: cookieOf(await signIn()), 'Transfer-Encoding': 'chunked' }
    const head = requestText({ path: TOKEN_PATH + path, headers })
    const received = await sendEndlessly(port, head, `10000\r\n${'x'.repeat(65_536)}\r\n`)
    expect(received).toMatch(/^HTTP\/1.1 20[04] /)
  })

  it('that a listener of the host makes flow does not get lost', async () => {
    const { overhear } = eavesdropper()
    const { signIn, refresh, signOut } = await startRefreshHost({ before: overhear, refresh: () => 'body' })
    const { refreshToken } = membersOf(await signIn())
    expect((await refresh(refreshToken)).status).toBe(200)
    expect((await signOut(refreshToken)).status).toBe(204)
  })
})

describe('a flood', () => {
  it.each(['cookie', 'body'] as const)(
    'of forged refresh tokens causes no look-up, and waits for turns: %s',
    async (mode) => {
      const store = countingStore()
      const { port } = await startRefreshHost({ refresh: mode, store })
      const forged = (i: number) => `${i}.0.${createHmac('sha256', 'other').update(`${i}`).digest('base64url')}`
      const sent = (i: number) =>
        mode === 'cookie'
          ? { headers: { cookie: `${COOKIE}=${forged(i)}` } }
          : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ refreshToken: forged(i) }) }
      const { 403: refused = 0, 503: overloaded = 0 } = statuses(
        await flood(port, 100, (i) => ({ ...sent(i), path: `${TOKEN_PATH}/refresh` }), 1),
      )
      expect(refused + overloaded).toBe(100)
      expect(overloaded).toBeGreaterThan(0)
      expect(store.find).not.toHaveBeenCalled()
    },
  )

  it('of one valid refresh token moves its session once, and leaves other clients alone', async () => {
    const store = memorySessions()
    const replace = vi.fn(store.replace)
    const { port, signIn, refresh, alice, sessions } = await startRefreshHost({ store: { ...store, replace } })
    const { refreshToken } = membersOf(await signIn())
    replace.mockClear()
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ refreshToken })
    const answers = await flood(port, 2000, () => ({ path: `${TOKEN_PATH}/refresh`, headers, body }), 200)
    expect(Object.keys(statuses(answers)).filter((status) => !['200', '503'].includes(status))).toEqual([])
    const given = answers.filter(({ status }) => status === 200).map((answer) => membersOf(answer).refreshToken)
    expect(new Set(given).size).toBe(1)
    expect(replace.mock.results.filter(({ value }) => value === true)).toHaveLength(1)
    expect((await signIn()).status).toBe(200)
    expect((await refresh(given[0])).status).toBe(200)
    expect(await sessions.list(alice.id)).toHaveLength(2)
  })

  it('of pipelined refreshes that wait for a hanging store does not take the place of another network', async () => {
    const store = memorySessions()
    let hangs = false
    const find: SessionStore['find'] = (id) => (hangs ? new Promise<never>(() => {}) : store.find(id))
    const before: RequestHandler = (req, _res, next) => {
      req.app.set('trust proxy', 1)
      next()
    }
    const { port, signIn, events } = await startRefreshHost({ before, store: { ...store, find } })
    const { refreshToken } = membersOf(await signIn())
    hangs = true
    const body = JSON.stringify({ refreshToken })
    const from = (address: string) => ({
      path: `${TOKEN_PATH}/refresh`,
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
      body,
    })
    for (let i = 0; i < 100; i++) {
      const socket = connect(port, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      socket.write(requestText(from('192.0.2.1')).repeat(16))
    }
    await until(() => expect(events.map(({ type }) => type)).toContain('token.overloaded'))
    hangs = false
    expect((await client(port)(from('192.0.2.2'))).status).toBe(200)
  })
})

describe('values of all sizes and forms', () => {
  it.each([
    ['empty', ''],
    ['dots', '...'],
    ['a huge generation', `a.${'9'.repeat(400)}.${'A'.repeat(43)}`],
    ['a negative generation', `a.-1.${'A'.repeat(43)}`],
    ['a long id', `${'a'.repeat(9000)}.0.${'A'.repeat(43)}`],
    ['characters beyond ASCII', `ä.0.${'A'.repeat(43)}`],
    ['__proto__', `__proto__.0.${'A'.repeat(43)}`],
    ['NUL', '\0'],
  ])('are refused without a look-up: %s', async (_, text) => {
    const store = countingStore()
    const { refresh, signOut } = await startRefreshHost({ store })
    expectForbidden(await refresh(text))
    expect((await signOut(text)).status).toBe(204)
    expect(store.find).not.toHaveBeenCalled()
  })

  it('another spelling of the same signature is refused', async () => {
    const { signIn, refresh } = await startRefreshHost()
    const { refreshToken } = membersOf(await signIn())
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(refreshToken.at(-1) as string)
    for (let bits = 1; bits < 4; bits++) {
      expectForbidden(await refresh(refreshToken.slice(0, -1) + alphabet[last ^ bits]))
    }
    expectForbidden(await refresh(`${refreshToken}=`))
    expectForbidden(await refresh(refreshToken.replace('.0.', '.00.')))
  })

  it('the refresh token is not taken from the URL, the header or a repeated field', async () => {
    const { signIn, send, post } = await startRefreshHost()
    const { refreshToken } = membersOf(await signIn())
    const path = `${TOKEN_PATH}/refresh`
    const headers = { 'Content-Type': 'application/json' }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const answers = [
      await send({ path: `${path}?refreshToken=${refreshToken}`, headers, body: '{}' }),
      await send({ path, headers: { ...headers, authorization: `Bearer ${refreshToken}` }, body: '{}' }),
      await send({ path, headers: form, body: `refreshToken=x&refreshToken=${refreshToken}` }),
      await post('/refresh', undefined, { ...LOOSE.form, cookie: `${COOKIE}=${refreshToken}` }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  })
})

describe('functions of the host', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    ['returns a promise', async () => 'cookie'],
    ['never settles', () => new Promise(() => {})],
    ['returns another mode', () => 'Cookie'],
  ])('a refresh function that %s is 503, and no session remains', async (_, refreshMode) => {
    const { signIn, refresh, withCookie, sessions, alice } = await startRefreshHost({ refresh: refreshMode as never })
    const answers = [await signIn(), await refresh('x'), await withCookie('/sign-out', `${COOKIE}=x`)]
    for (const answer of answers) {
      expectUnavailable(answer)
      expect(answer.body).not.toContain('secret')
    }
    expect(await sessions.list(alice.id)).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['an array', () => ['x']],
    ['an object whose toJSON returns an array', () => ({ toJSON: () => ['x'] })],
    ['an object whose toJSON returns a text', () => ({ toJSON: () => '{' })],
    [
      'a cycle',
      () => {
        const object: Record<string, unknown> = {}
        object['self'] = object
        return object
      },
    ],
    ['a bigint', () => ({ id: 1n })],
  ])('a respond that returns %s uses up no refresh token and starts no session', async (_, respond) => {
    let isOdd = true
    const { signIn, refresh, sessions, alice } = await startRefreshHost({
      respond: ({ token }) => (isOdd ? respond() : { token }) as object,
    })
    expectUnavailable(await signIn())
    expect(await sessions.list(alice.id)).toEqual([])
    isOdd = false
    const { refreshToken } = membersOf(await signIn())
    isOdd = true
    expectUnavailable(await refresh(refreshToken))
    isOdd = false
    expect(membersOf(await refresh(refreshToken)).refreshToken).toContain('.1.')
  })

  it('a respond with __proto__ and refreshToken changes neither the prototype nor the refresh token', async () => {
    const { signIn, refresh } = await startRefreshHost({
      respond: ({ token }) => JSON.parse(`{"__proto__":{"admin":true},"refreshToken":"mine","token":"${token}"}`),
    })
    const { refreshToken, ...others } = membersOf(await signIn())
    expect(Object.keys(others)).toEqual(['__proto__', 'token'])
    expect((await refresh(refreshToken)).status).toBe(200)
  })

  it('claims of the host name no session', async () => {
    const { signIn, refresh, change, get } = await startRefreshHost()
    change({ claims: { sid: 'mine', auth_time: 1, tenant: 'a' } })
    const { authenticationToken, refreshToken } = membersOf(await signIn())
    const next = membersOf(await refresh(refreshToken)).authenticationToken
    for (const token of [authenticationToken, next]) {
      const { sid, auth_time, iat, tenant } = claimsOf(token)
      expect([sid === 'mine', auth_time === iat, tenant]).toEqual([false, true, 'a'])
      expect((await get('/me', token)).status).toBe(200)
    }
  })
})

describe('a polluted Object.prototype', () => {
  it.each(['ended', 'reused'])('does not delete the cookie while the store is down: reason %s', async (reason) => {
    const store = memorySessions()
    let isDown = false
    const find: SessionStore['find'] = (id) => {
      if (isDown) throw new Error('down')
      return store.find(id)
    }
    const { signIn, withCookie } = await startRefreshHost({ refresh: 'cookie', store: { ...store, find } })
    const cookie = cookieOf(await signIn())
    isDown = true
    const answer = await polluted({ reason, code: 'invalid_refresh_token' }, () => withCookie('/refresh', cookie))
    expect(answer.status).toBe(503)
    expect(setCookies(answer)).toEqual([])
  })

  it('gives no refresh token and changes no lifetime', async () => {
    const { signIn, refresh, post } = await startRefreshHost()
    const { refreshToken } = membersOf(await signIn())
    const inherited = { refreshToken, sessionId: 'x', lifetime: '1s', signedInAt: new Date(0), refresh: 'x' }
    const [without, given] = await polluted(inherited, async () => [
      await post('/refresh', {}),
      await refresh(refreshToken),
    ])
    expect(without?.status).toBe(400)
    const { iat, exp } = claimsOf(membersOf(given as never).authenticationToken)
    expect(exp - iat).toBe(600)
  })
})

it('neither events, errors nor the objects of the host show a secret', async () => {
  const { signIn, refresh, signOut, events, sessions, wait } = await startRefreshHost()
  const { inspect } = await import('node:util')
  const first = membersOf(await signIn())
  const second = membersOf(await refresh(first.refreshToken))
  wait(60_000)
  const third = membersOf(await refresh(second.refreshToken))
  wait(60_000)
  await refresh(first.refreshToken)
  await signOut(third.refreshToken)
  await refresh('garbage.0.token')
  const shown = inspect([events, sessions], { depth: 10, showHidden: true })
  for (const { refreshToken } of [first, second, third]) {
    expect(shown).not.toContain(refreshToken)
    expect(shown).not.toContain(refreshToken.split('.')[2])
  }
  for (const text of ['garbage', SECRET, 'plain:']) expect(shown).not.toContain(text)
  for (const secret of ['short-secret', ['short-secret'], { secret: 'short-secret' }]) {
    expect(() => authWith({ accounts: () => null, secret: secret as never })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('short-secret') }),
    )
  }
})

it('a mount path with text of the client cannot add an attribute or a header, and cannot fail after the sign-in', async () => {
  const { auth, alice } = await startRefreshHost({ refresh: 'cookie', paths: { token: '/token' } })
  const { port } = await listen(express().use('/:tenant', auth.router))
  const body = JSON.stringify({ email: alice.email, password: PASSWORD })
  const headers = { 'Content-Type': 'application/json' }
  for (const tenant of ['a;Domain=evil.example', 'a%0d%0aSet-Cookie:x=y', 'a,b', '%ff', '"']) {
    const answer = await client(port)({ path: `/${tenant}/token`, headers, body })
    if (answer.status === 400) continue
    expect(setCookies(answer)).toHaveLength(1)
    expect(setCookies(answer)[0]).toMatch(
      /^__Secure-refresh=[^;]+; Path=\/[^;]+\/token; Max-Age=\d+; HttpOnly; Secure; SameSite=Strict$/,
    )
  }
})

it.each([
  ['another issuer', { issuer: 'https://sibling.example.com' }, [403, 204]],
  ['another secret', { secret: 'secret o'.repeat(4) }, [403, 204]],
])('a refresh token of an environment with %s opens and ends nothing', async (_, other, expected) => {
  const store = memorySessions()
  const [here, sibling] = [await startRefreshHost({ store }), await startRefreshHost({ store, ...other })]
  const { refreshToken } = membersOf(await sibling.signIn())
  expect([(await here.refresh(refreshToken)).status, (await here.signOut(refreshToken)).status]).toEqual(expected)
  expect((await sibling.refresh(refreshToken)).status).toBe(200)
  expectProblem(await here.post('/refresh', { token: refreshToken }), 400, 'invalid_body', 'Bad Request')
  expect(ISSUER).not.toBe('')
})

it('over HTTP/2, cookies may be in several fields, the authority is the host, and an unfinished request does no harm', async () => {
  const { auth } = await startRefreshHost({ refresh: 'cookie' })
  const { router } = auth
  const server = createServer((req, res) => router(req as never, res as never, () => void res.end()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  onTestFinished(() => session.destroy())
  const send = async (path: string, headers: OutgoingHttpHeaders, body = '') => {
    const stream = session.request({ ':method': 'POST', ':path': TOKEN_PATH + path, ...headers })
    // Without the end of the body, as a slow client sends it.
    if (body) stream.end(body)
    const [received] = (await once(stream, 'response')) as [Record<string, string[]>]
    return { status: Number(received[':status']), cookie: String(received['set-cookie']).split(';')[0] as string }
  }
  const credentials = JSON.stringify({ email: ACCOUNTS.alice.email, password: PASSWORD })
  const { cookie } = await send('', { 'content-type': 'application/json' }, credentials)
  expect(cookie).toContain(COOKIE)
  const own = `http://127.0.0.1:${port}`
  expect((await send('/refresh', { cookie: ['a=1', cookie, 'b=2'], origin: own })).status).toBe(200)
  expect((await send('/refresh', { cookie, origin: 'http://127.0.0.1:1' })).status).toBe(403)
  expect((await send('/sign-out', { cookie, origin: own })).status).toBe(204)
  for (let i = 0; i < 5; i++) expect((await send('/refresh', { cookie })).status).toBe(403)
})
