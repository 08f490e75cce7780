// Tests http/send-response.ts

import { once } from 'node:events'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { AuthError, requireBearer } from 'express-token-endpoint'
import { BearerStrategy } from 'express-token-endpoint/passport'
import { Passport } from 'passport'
import { describe, expect, it, onTestFinished } from 'vitest'
import { authWith } from '../../support/auth.js'
import { makeIssuer } from '../../support/fixtures.js'
import { EXPRESS, listen, TOKEN_PATH } from '../../support/http.js'

const MEGABYTE = 1_048_576
const tokens = makeIssuer()

/** Sends a whole request before it reads, as httpx does. Returns everything that the server has sent. */
async function uploadThenRead(port: number, path: string, type: string, megabytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => {})
  const lines = ['Host: x', `Content-Type: ${type}`, `Content-Length: ${megabytes * MEGABYTE}`]
  socket.write([`POST ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
  const part = Buffer.alloc(MEGABYTE)
  for (let sent = 0; sent < megabytes; sent++) {
    await new Promise<void>((resolve, reject) => socket.write(part, (error) => (error ? reject(error) : resolve())))
  }
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk))
  socket.resume()
  await once(socket, 'close')
  return Buffer.concat(received).toString()
}

describe.each(EXPRESS)('a refused upload of 8 MB, %s', (_, express) => {
  async function start() {
    const app = express().post('/guarded', requireBearer({ tokens }))
    app.post('/own', (_req, _res, next) => next(new AuthError('missing_token')))
    app.post('/passport', new Passport().use(new BearerStrategy({ tokens })).authenticate('bearer', { session: false }))
    const auth = authWith({ accounts: () => null })
    const { port } = await listen(app.use(auth.router, auth.errors))
    return port
  }

  it.each([
    ['/guarded', 401],
    ['/own', 401],
    ['/passport', 401],
    [TOKEN_PATH, 415],
  ])('has its response: %s', async (path, status) => {
    const port = await start()
    const received = await uploadThenRead(port, path, 'application/octet-stream', 8)
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nConnection: close\r\n`))
    const url = `http://127.0.0.1:${port}${path}`
    const body = Buffer.alloc(8 * MEGABYTE)
    const sent = { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' } }
    expect(await fetch(url, { ...sent, body })).toMatchObject({ status })
    const stream = Readable.toWeb(Readable.from([body])) as unknown as ReadableStream
    expect(await fetch(url, { ...sent, body: stream, duplex: 'half' } as RequestInit)).toMatchObject({ status })
  })

  it('is cut off when the body is longer than what may be read', async () => {
    await expect(uploadThenRead(await start(), '/guarded', 'application/octet-stream', 64)).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|EPIPE/),
    })
  })

  it('of the token endpoint is cut off where its own limit refuses it', async () => {
    await expect(uploadThenRead(await start(), TOKEN_PATH, 'application/json', 8)).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|EPIPE/),
    })
  })
})

it('a refused upload of 8 MB has its response in HTTP/2, and the connection stays', async () => {
  const guard = requireBearer({ tokens })
  const server = createHttp2Server((req, res) => guard(req as never, res as never, () => void res.end('admitted')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { maxSessionMemory: 100 })
  onTestFinished(() => session.destroy())
  for (const _ of [1, 2]) {
    const stream = session.request({ ':path': '/', ':method': 'POST' })
    stream.on('error', () => {})
    stream.end(Buffer.alloc(8 * MEGABYTE))
    const [head] = await once(stream, 'response')
    expect(head[':status']).toBe(401)
    let text = ''
    for await (const part of stream.setEncoding('utf8')) text += part
    expect(JSON.parse(text)).toMatchObject({ code: 'missing_token' })
  }
})
