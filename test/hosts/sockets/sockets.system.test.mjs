import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { REFUSED, start } from '../expect-host.js'
import { makeKit, NO_HOSTS } from '../kit.js'

/** Starts a host, and stops it when the test ends. */
async function run(host) {
  const kit = makeKit()
  const { app, close, path = '/' } = await host(kit)
  const url = await start(app)
  if (close) onTestFinished(() => void close())
  return { url: url + path, kit }
}

const CLIENT = '203.0.113.1'
const headersWith = (token) => ({ 'X-Forwarded-For': CLIENT, ...(token && { Authorization: `Bearer ${token}` }) })

/** Opens a WebSocket. Resolves with its first message, or with the code of its end. */
async function openWebSocket(url, token, firstMessage) {
  const { WebSocket } = await import('ws')
  const ws = new WebSocket(url, { headers: headersWith(token) })
  onTestFinished(() => ws.terminate())
  if (firstMessage !== undefined) ws.once('open', () => ws.send(firstMessage))
  const ended = new Promise((resolve) => {
    ws.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
    ws.on('error', () => {})
  })
  return new Promise((resolve) => {
    ws.once('message', (account) => resolve({ account: String(account), ended }))
    ended.then(resolve)
  })
}

/** Expects a refusal for each kind of token, an open connection for a valid one, and its end after the token was revoked. */
async function expectSockets({ kit, open, refusal, end }) {
  for (const refused of REFUSED) {
    expect(await open(refused.token && kit.issued[refused.token])).toMatchObject(refusal(refused))
  }
  expect([...kit.addresses]).toEqual([CLIENT])
  const { account, ended } = await open(kit.issued.alice)
  expect(account).toBe('acc-1')
  kit.revokeAll()
  expect(await ended).toEqual(end)
}

describe.skipIf(NO_HOSTS)('WebSockets', () => {
  const withCode = ({ status, code }) => ({ code: 4000 + status, reason: code })
  it.each([
    ['ws takes the token from the first message', 'withFirstMessage', (token = '') => [undefined, token], withCode],
    ['express-ws closes with a code', 'withAuthenticate', (token) => [token], withCode],
    ['express-ws closes without a code after the guard', 'withGuard', (token) => [token], () => ({ code: 1005 })],
  ])('%s', async (_, host, credentials, refusal) => {
    const { url, kit } = await run((await import('./servers.mjs'))[host])
    const { WebSocket } = await import('ws')
    const invalid = new WebSocket(url, { headers: headersWith(kit.issued.alice) })
    await once(invalid, 'open')
    invalid._socket.write(Buffer.from([0xff, 0x80, 0, 0, 0, 0]))
    await once(invalid, 'close')
    const open = (token) => openWebSocket(url, ...credentials(token))
    await expectSockets({ kit, open, refusal, end: { code: 4401, reason: 'invalid_token' } })
  })
})

describe.skipIf(NO_HOSTS)('Socket.IO', () => {
  /** Resolves with the account, or with the error of the connection. */
  async function openSocketIo(url, options) {
    const { io } = await import('socket.io-client')
    const socket = io(url, { reconnection: false, forceNew: true, ...options })
    onTestFinished(() => void socket.disconnect())
    const ended = new Promise((resolve) => socket.once('disconnect', resolve))
    return new Promise((resolve) => {
      socket.once('account', (account) => resolve({ account, ended }))
      socket.once('connect_error', resolve)
    })
  }

  const asHeader = (token) => ({ extraHeaders: headersWith(token) })
  const asAuth = (token) => ({ extraHeaders: headersWith(), auth: { token } })

  it.each([
    ['the header, by polling', asHeader, 'polling'],
    ['the header of a WebSocket', asHeader, 'websocket'],
    ['auth, as browsers do', asAuth, 'websocket'],
  ])('a middleware takes the token from %s', async (_, credentials, transport) => {
    const { url, kit } = await run((await import('./servers.mjs')).withMiddleware)
    await expectSockets({
      kit,
      open: (token) => openSocketIo(url, { transports: [transport], ...credentials(token) }),
      refusal: ({ status, code, challenge }) => ({
        data: { status, code, headers: { 'WWW-Authenticate': expect.stringContaining(challenge) } },
      }),
      end: 'io server disconnect',
    })
  })

  it.each(['polling', 'websocket'])('the guard is a middleware of Engine.IO, with %s', async (transport) => {
    const { url, kit } = await run((await import('./servers.mjs')).withEngineMiddleware)
    await expectSockets({
      kit,
      open: (token) => openSocketIo(url, { transports: [transport], ...asHeader(token) }),
      refusal: ({ status }) => (transport === 'polling' ? { description: status } : { message: 'websocket error' }),
      // The guard may refuse the next poll before the server disconnects the client.
      end:
        transport === 'polling'
          ? expect.stringMatching(/^(io server disconnect|transport error)$/)
          : 'io server disconnect',
    })
  })
})
