import { once } from 'node:events'
import { connect, constants, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type RequireBearerOptions, requireBearer } from 'express-token-endpoint'
import { expect, it, onTestFinished } from 'vitest'
import { deferred, until } from '../../support/concurrency.js'
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
])('holds 2,048 calls of one network, and refuses the next one: %s', async (_, optionsWith) => {
  let calls = 0
  const { promise, reject } = deferred<never>()
  onTestFinished(() => reject(new Error('the test has ended')))
  const call = () => {
    calls++
    return promise
  }
  const open = await start({ ...optionsWith(call), timeout: '1m' })
  const session = open()
  let answered = 0
  const ask = () => session.request({ ':path': '/', authorization }).on('error', () => {})
  // Eight tokens are verified in one turn of the event loop, and the others are cached then.
  await once(open().request({ ':path': '/', authorization: 'Bearer a.b.c' }), 'response')
  for (let i = 0; i < 2048; i++) ask().on('response', () => answered++)
  await until(() => expect(calls).toBe(2048))
  const [refused] = await once(open().request({ ':path': '/', authorization }), 'response')
  expect([refused[':status'], answered, calls]).toEqual([503, 0, 2048])
})

it('counts the calls of streams that the client has reset', async () => {
  let calls = 0
  const { promise, reject } = deferred<never>()
  onTestFinished(() => reject(new Error('the test has ended')))
  const isRevoked = () => {
    calls++
    return promise
  }
  const open = await start({ isRevoked, timeout: '1m' })
  while (calls < 2048) {
    // Node closes a connection with too many streams that were reset.
    const session = open()
    await once(session, 'connect')
    const before = calls
    const streams = Array.from({ length: 256 }, () =>
      session.request({ ':path': '/', authorization }).on('error', () => {}),
    )
    await until(() => expect(calls).toBe(before + 256))
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
    await Promise.all(streams.map((stream) => once(stream, 'close')))
  }
  const [refused] = await once(open().request({ ':path': '/', authorization }), 'response')
  expect([refused[':status'], calls]).toEqual([503, 2048])
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
