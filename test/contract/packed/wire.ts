import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../support/concurrency.js'
import { ALGORITHMS, ISSUER, issueNow, makeIssuer, PASSWORD, signingKey } from '../../support/fixtures.js'
import {
  asForm,
  asJson,
  expectForbidden,
  expectToken,
  FORM_TYPE,
  GOOD,
  GOOD_FORM,
  GOOD_JSON,
  JSON_TYPE,
  type Sent,
  send,
} from '../../support/host.js'
import { bearer, flood, login, sendBytes, TOKEN_PATH } from '../../support/http.js'
import type { Started } from './consumer.js'

/** The environment of the host in `consumers/wire`. Its issuer has the keys of ES256, RS256 and PS256. */
export const WIRE_ENV = { KEYS: JSON.stringify(ALGORITHMS.map((alg) => signingKey(alg))) }
const ISSUER_KEYS = (['RS256', 'PS256', 'ES256'] as const).map((alg) => signingKey(alg))

const tokens = makeIssuer({ keys: ISSUER_KEYS })
const twoHoursAgo = makeIssuer({ keys: ISSUER_KEYS, clock: () => Date.now() - 7_200_000 })
const expired = () => issueNow(twoHoursAgo, { accountId: 'acc-1' }).token

const { token: unknown } = issueNow(makeIssuer({ keys: signingKey('ES256', 'other') }), { accountId: 'acc-1' })

const HEAD = `POST ${TOKEN_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
const realm = `Bearer realm="${ISSUER}"`

/** Sends a head and then a chunk every 5 ms until the server closes the connection. A faster client could lose the response. */
async function sendUntilClosed(port: number, head: string, chunk: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let received = ''
  socket.on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => {})
  socket.write(head)
  const timer = setInterval(() => socket.write(chunk), 5)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(timer)
  return received
}

/**
 * Tests what a client of the host in `consumers/wire` receives. The tests are the same on every runtime.
 * @returns a function that returns the host, for further tests
 */
export function wireTests(startHost: () => Promise<Started>): () => Started {
  let host: Started
  let token = ''
  beforeAll(async () => {
    host = await startHost()
    token = expectToken(await send(host.port, asJson(GOOD))).authenticationToken
  })
  afterAll(() => host?.stop())

  const get = (path: string, authorization = `Bearer ${token}`) =>
    send(host.port, { method: 'GET', path, headers: authorization ? { Authorization: authorization } : {} })
  const events = async (): Promise<string[]> => JSON.parse((await get('/events')).body)
  const count = async (code: string) => (await events()).filter((one) => one === code).length

  describe('refresh', () => {
    const post = (path: string, body: object | undefined, headers: Record<string, string>) => {
      const { headers: type, ...sent } = body ? asJson(body) : { headers: {} }
      return send(host.port, { path: `/signed-in${path}`, ...sent, headers: { ...type, ...headers } })
    }

    it('in a body: gives another token, the same refresh token to two tabs, and nothing after a sign-out', async () => {
      const body = { 'x-mode': 'body' }
      const { refreshToken } = JSON.parse((await post('', GOOD, body)).body)
      const [one, two] = await Promise.all([1, 2].map(() => post('/refresh', { refreshToken }, body)))
      expect(JSON.parse(String(two?.body)).refreshToken).toBe(JSON.parse(String(one?.body)).refreshToken)
      const { authenticationToken } = JSON.parse(String(one?.body))
      expect((await get('/session', `Bearer ${authenticationToken}`)).status).toBe(200)
      expect((await post('/sign-out', { refreshToken }, body)).status).toBe(204)
      expectForbidden(await post('/refresh', { refreshToken }, body))
      expect((await get('/session', `Bearer ${authenticationToken}`)).status).toBe(401)
    })

    it('in a cookie: refuses another origin, and deletes the cookie of a session that is over', async () => {
      const mode = { 'x-mode': 'cookie', 'sec-fetch-site': 'same-origin' }
      const cookieOf = ({ headers }: Awaited<ReturnType<typeof post>>) =>
        String(headers['set-cookie']).split(';')[0] ?? ''
      const cookie = cookieOf(await post('', GOOD, mode))
      expect((await post('/refresh', undefined, { ...mode, cookie, 'sec-fetch-site': 'same-site' })).status).toBe(403)
      const renewed = cookieOf(await post('/refresh', undefined, { ...mode, cookie }))
      expect(renewed).toMatch(/^__Secure-refresh=.+\.1\./)
      expect((await post('/sign-out', undefined, { ...mode, cookie: renewed })).status).toBe(204)
      expect(cookieOf(await post('/refresh', undefined, { ...mode, cookie: renewed }))).toBe('__Secure-refresh=')
    })
  })

  describe('the token endpoint', () => {
    it.each<[string, Sent]>([
      ['JSON', asJson(GOOD)],
      ['a form', asForm(GOOD_FORM)],
      ['chunks', { headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }, body: GOOD_JSON }],
    ])('%s: 200 with a token and its expiration', async (_what, sent) => {
      const { authenticationToken, expiration } = expectToken(await send(host.port, sent))
      const { expiresAt } = await tokens.verify(authenticationToken)
      expect(expiresAt.toISOString()).toBe(expiration)
    })

    it('a wrong password: 403 with an empty body', async () => {
      expectForbidden(await send(host.port, asJson({ ...GOOD, password: 'wrong' })))
    })

    it.each<[number, string, Sent]>([
      [400, 'text that is not UTF-8', { headers: FORM_TYPE, body: 'email=%ff&password=x' }],
      [400, 'no body', { headers: JSON_TYPE }],
      [405, 'another method', { method: 'PUT', headers: JSON_TYPE, body: GOOD_JSON }],
      [413, 'a long body', asJson({ ...GOOD, password: 'x'.repeat(1_000_000) })],
      [415, 'a content coding', { headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, body: GOOD_JSON }],
    ])('%i: %s', async (status, _what, sent) => {
      const answer = await send(host.port, sent)
      expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' } })
    })

    it('two lines of Content-Type: 415', async () => {
      const body = `Content-Type: text/plain\r\nContent-Length: ${GOOD_JSON.length}\r\nConnection: close\r\n\r\n${GOOD_JSON}`
      expect(await sendBytes(host.port, HEAD + body)).toMatch(/^HTTP\/1\.1 415 /)
    })

    const kilobytes = 'x'.repeat(10_000)
    it.concurrent.each([
      ['body with a length', 413, `${HEAD}Content-Length: 1000000000000\r\n\r\n`, kilobytes],
      ['chunks', 413, `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `2710\r\n${kilobytes}\r\n`],
      ['body without a token', 401, 'POST /me HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n', kilobytes],
    ])('endless %s: %i, and the connection closes', async (_what, status, head, chunk) => {
      const received = await sendUntilClosed(host.port, head, chunk)
      expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(received).toMatch(/\r\nConnection: close\r\n/i)
    })

    it('a client that aborts its request: the event client_closed_request, and the next request works', async () => {
      const before = await count('client_closed_request')
      const socket = connect(host.port, '127.0.0.1')
      await once(socket, 'connect')
      socket.write(`${HEAD}Content-Length: 100\r\n\r\n{"email":`)
      await new Promise((resolve) => setTimeout(resolve, 50))
      socket.destroy()
      await until(async () => expect(await count('client_closed_request')).toBe(before + 1))
      expectToken(await send(host.port, asJson(GOOD)))
    })

    it('pipelined logins: each response in its place', async () => {
      const passwords = [PASSWORD, 'wrong', PASSWORD, 'wrong', PASSWORD, PASSWORD]
      const answers = await flood(host.port, 6, (i) => login(GOOD.email, passwords[i] ?? ''), 2)
      expect(answers.map(({ status }) => status)).toEqual([200, 403, 200, 403, 200, 200])
    })
  })

  describe('the guard', () => {
    it.each(['/me', '/account', '/reports', '/optional', '/remote'])('%s: 200 with a token', async (path) => {
      const answer = await get(path)
      expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { account: 'acc-1' }])
    })

    it.each<[number, string, string, string | (() => string), string]>([
      [401, 'no token', '/me', '', realm],
      [401, 'a changed token', '/me', () => `Bearer ${token}x`, `${realm}, error="invalid_token"`],
      [401, 'an expired token', '/me', () => `Bearer ${expired()}`, `${realm}, error="invalid_token"`],
      [401, 'an unknown key of remote keys', '/remote', `Bearer ${unknown}`, 'error="invalid_token"'],
      [400, 'letters beyond ASCII', '/me', 'Bearer ä', 'error="invalid_request"'],
      [400, 'a token in the query too', '/me?access_token=x', () => `Bearer ${token}`, 'error="invalid_request"'],
      [403, 'a scope that the token does not have', '/admin', () => `Bearer ${token}`, 'scope="admin"'],
    ])('%i: %s', async (status, _what, path, authorization, challenge) => {
      const answer = await get(path, typeof authorization === 'string' ? authorization : authorization())
      expect(answer.status).toBe(status)
      expect(answer.headers['www-authenticate']).toContain(challenge)
    })

    it('two Authorization lines: 400', async () => {
      const line = `Authorization: Bearer ${token}\r\n`
      const received = await sendBytes(
        host.port,
        `GET /me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`,
      )
      expect(received).toMatch(/^HTTP\/1\.1 400 /)
    })

    it('pipelined requests: each response in its place', async () => {
      const answers = await flood(host.port, 100, (i) => bearer(i % 3 === 0 ? expired() : token, '/me'), 2)
      expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 3 === 0 ? 401 : 200)))
    })
  })

  it('publishes its public keys', async () => {
    const answer = await get('/.well-known/jwks.json', '')
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/jwk-set+json' } })
    const { keys } = JSON.parse(answer.body)
    expect({ keys }).toEqual(tokens.jwks())
  })

  it.each(ALGORITHMS)('signs and verifies with %s', async (alg) => {
    const issuer = makeIssuer({ keys: signingKey(alg) })
    const { token: here } = issueNow(issuer, { accountId: 'acc-1' })
    expect((await get(`/me/${alg}`, `Bearer ${here}`)).status).toBe(200)
    expect((await get(`/me/${alg}`, `Bearer ${here.slice(0, -8)}AAAAAAAA`)).status).toBe(401)
    const { token: there } = JSON.parse((await get(`/token/${alg}`)).body)
    expect(await issuer.verify(there)).toMatchObject({ accountId: 'acc-1' })
  })

  return () => host
}
