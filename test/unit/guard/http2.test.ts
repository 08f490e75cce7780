// Tests guard/origin.ts

import { once } from 'node:events'
import { connect, constants, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type RequireBearerOptions, requireBearer } from 'express-token-endpoint'
import { expect, it, onTestFinished } from 'vitest'
import { until } from '../../support/concurrency.js'
import { issueNow, makeIssuer } from '../../support/fixtures.js'

const tokens = makeIssuer()
const authorization = `Bearer ${issueNow(tokens, { accountId: 'acc-1' }).token}`

/** Starts a server of HTTP/2 with the guard. Returns a function that connects to it. */
async function start(
  options: Partial<RequireBearerOptions> = {},
  before: (req: Http2ServerRequest) => unknown = () => {},
) {
  const guard = requireBearer({ tokens, ...options })
  const server = createServer(async (req: Http2ServerRequest, res: Http2ServerResponse) => {
    if (req.method === 'POST') await before(req)
    guard(req as never, res as never, () => void res.end('admitted'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return () => {
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    onTestFinished(() => session.destroy())
    return session
  }
}

it.each<[string, (call: () => Promise<never>) => Partial<RequireBearerOptions>]>([
  ['isRevoked', (isRevoked) => ({ isRevoked })],
  [
    'a verifier of the host',
    (call) => ({ tokens: { ...tokens, verify: (text) => (text === 'a.b.c' ? tokens.verify(text) : call()) } }),
  ],
])('holds 128 calls of one connection, and refuses all of them when one more comes: %s', async (_, optionsWith) => {
  let calls = 0
  const call = () => {
    calls++
    return new Promise<never>(() => {})
  }
  const open = await start({ ...optionsWith(call), timeout: '1m' })
  const session = open()
  const statuses: number[] = []
  const ask = () => {
    const stream = session.request({ ':path': '/', authorization })
    stream.on('response', (headers) => statuses.push(Number(headers[':status']))).resume()
    return stream
  }
  // Eight tokens are verified in one turn of the event loop, and the others are cached then.
  await once(open().request({ ':path': '/', authorization: 'Bearer a.b.c' }), 'response')
  for (let i = 0; i < 128; i++) ask()
  await until(() => expect(calls).toBe(128))
  expect(statuses).toEqual([])
  ask()
  await until(() => expect(statuses).toEqual(Array(129).fill(503)))
  const other = open().request({ ':path': '/', authorization })
  await until(() => expect(calls).toBe(129))
  other.destroy()
})

it('counts the calls of streams that the client has reset', async () => {
  let calls = 0
  const isRevoked = () => {
    calls++
    return new Promise<boolean>(() => {})
  }
  const open = await start({ isRevoked, timeout: '1m' })
  const session = open()
  await once(session, 'connect')
  // Each token is a new one, so that most of them wait for their verification while their stream ends. Some streams end before the guard runs.
  for (let sent = 0; calls < 128 || sent < 200; sent += 50) {
    expect(sent).toBeLessThan(2000)
    for (let i = 0; i < 50; i++) {
      const { token } = issueNow(tokens, { accountId: `acc-${sent + i}` })
      const stream = session.request({ ':path': '/', ':method': 'POST', authorization: `Bearer ${token}` })
      stream.on('error', () => {}).end()
      setImmediate(() => stream.close(constants.NGHTTP2_CANCEL))
    }
    await new Promise((resolve) => session.ping(resolve))
  }
  let status: unknown
  session.request({ ':path': '/', authorization }).on('response', (headers) => {
    status = headers[':status']
  })
  await until(() => expect(status).toBe(503))
  expect(calls).toBe(128)
})

it.each<[string, Record<string, string>, ((req: Http2ServerRequest) => unknown) | undefined]>([
  ['without a length', {}, undefined],
  ['of 100,000 bytes', { 'content-length': '100000' }, undefined],
  ['that a listener reads', {}, (req) => req.on('data', () => {})],
  ['whose first piece was read', {}, (req) => once(req, 'data').then(() => req.pause())],
])('ends the stream of a refused request with a body %s, and keeps the connection', async (_, headers, before) => {
  const session = (await start({}, before))()
  const stream = session.request({ ':path': '/', ':method': 'POST', ...headers })
  stream.write('x'.repeat(1000))
  const [response] = await once(stream, 'response')
  expect(response).toMatchObject({ ':status': 401, 'www-authenticate': expect.stringContaining('Bearer realm=') })
  let body = ''
  stream.on('data', (chunk) => {
    body += chunk
  })
  await once(stream, 'close')
  expect(JSON.parse(body)).toMatchObject({ code: 'missing_token' })
  expect(stream.rstCode).toBe(0)
  const [next] = await once(session.request({ ':path': '/', authorization }), 'response')
  expect(next[':status']).toBe(200)
})
