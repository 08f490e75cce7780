import { once } from 'node:events'
import { createServer } from 'node:http'
import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { until } from '../../support/concurrency.ts'
import { get, signIn, startExamples } from '../../support/documents/examples.js'
import { issueNow } from '../../support/fixtures.js'
import { TOKEN_PATH } from '../../support/http.js'
import { start } from '../expect-host.js'
import { NO_HOSTS } from '../kit.js'

const { run } = startExamples(import.meta.url)

const issue = (tokens, scopes = ['statements:read']) =>
  issueNow(tokens, { accountId: 'acc-1', scopes, lifetime: '5m' }).token
const bearer = (token) => ({ headers: { Authorization: `Bearer ${token}` } })
const challenged = { 'www-authenticate': expect.stringContaining('Bearer realm=') }

describe.skipIf(NO_HOSTS)('the page on other frameworks', () => {
  it('nest: the guard admits a token, and its exception has the problem and the headers', async () => {
    const { BearerGuard, tokens } = await run('nest')
    const guard = new BearerGuard()
    const sent = {}
    const activate = (token) => {
      const [req, res] = [
        { headers: { authorization: `Bearer ${token}` }, rawHeaders: [], socket: {} },
        { set: (headers) => Object.assign(sent, headers) },
      ]
      return guard.canActivate({ switchToHttp: () => ({ getRequest: () => req, getResponse: () => res }) })
    }
    expect(await activate(issue(tokens))).toBe(true)
    await expect(activate(issue(tokens, []))).rejects.toMatchObject({
      status: 403,
      response: { code: 'insufficient_scope' },
    })
    expect(sent).toMatchObject({ 'WWW-Authenticate': expect.stringContaining('scope="statements:read"') })
  })

  it('fastify: signs in, and refuses with the headers', async () => {
    const { app, tokens } = await run('fastify')
    onTestFinished(() => app.close())
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { body } = await signIn(app.server).expect(200)
    await get(app.server, '/statements', body.authenticationToken).expect(200, { account: 'acc-1' })
    const refused = await get(app.server, '/statements', issue(tokens, [])).expect(403)
    expect(refused).toMatchObject({ headers: challenged, body: { code: 'insufficient_scope', statusCode: 403 } })
  })

  it('apollo: authenticates in the context', async () => {
    const { app } = await run('apollo')
    const ask = (token) => get(app, '/graphql?query={account}', token).set('Apollo-Require-Preflight', 'true')
    const { body } = await signIn(app).expect(200)
    await ask(body.authenticationToken).expect(200, { data: { account: 'acc-1' } })
    expect(await ask('x.y.z').expect(401)).toMatchObject({
      headers: challenged,
      body: { errors: [{ extensions: { code: 'invalid_token' } }] },
    })
    await ask().expect(401)
  })

  it('serverless-google: signs in with JSON and with a form that the framework has parsed', async () => {
    const { getTestServer } = await import('@google-cloud/functions-framework/testing')
    await run('serverless-google')
    const server = getTestServer('api')
    await signIn(server).expect(200)
    const form = (password) =>
      request(server).post(TOKEN_PATH).type('form').send({ email: 'alice@example.com', password })
    await form('secret').expect(200)
    await form('wrong').expect(403)
  })

  it('trpc: authenticates in createContext', async () => {
    const { app, tokens } = await run('trpc')
    await get(app, '/trpc/account', issue(tokens)).expect(200, { result: { data: 'acc-1' } })
    const refused = await get(app, '/trpc/account', 'x.y.z').expect(401)
    expect(refused).toMatchObject({ headers: challenged, body: { error: { data: { code: 'UNAUTHORIZED' } } } })
    await get(app, '/trpc/account').expect(401)
  })
})

describe.skipIf(NO_HOSTS)('the page on sockets', () => {
  /** Sets the clock to a time after the tokens have expired. */
  function expire(ms = 300_000) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
    onTestFinished(() => void vi.useRealTimers())
  }

  it('ws: responds to the upgrade, and closes when the token expires', async () => {
    const { WebSocket } = await import('ws')
    const { api, sockets, tokens } = await run('ws')
    const url = await start(api)
    const refused = new WebSocket(url, bearer('x.y.z'))
    refused.on('error', () => {})
    const [, response] = await once(refused, 'unexpected-response')
    expect(response).toMatchObject({ statusCode: 401, headers: challenged })

    const open = async () => {
      const ws = new WebSocket(url, bearer(issue(tokens)))
      const [[peer], [message]] = await Promise.all([once(sockets, 'connection'), once(ws, 'message')])
      expect(String(message)).toBe('account acc-1')
      return { ws, peer }
    }
    const invalid = await open()
    invalid.ws._socket.write(Buffer.from([0xff, 0x80, 0, 0, 0, 0]))
    await until(() => expect(invalid.peer.readyState).toBe(WebSocket.CLOSED))

    const [{ ws }, silent] = [await open(), await open()]
    const closed = once(ws, 'close')
    silent.ws.pause() // sends, but reads no more
    const handled = vi.fn()
    silent.peer.on('message', handled)
    expire()
    expect((await closed).map(String)).toEqual(['4401', 'invalid_token'])
    silent.ws.send('after the end')
    silent.ws.ping()
    await once(silent.peer, 'ping')
    expect(handled).not.toHaveBeenCalled()
    await once(silent.peer, 'close')
  })

  it('socket-io: takes the token of a browser, and disconnects when it expires', async () => {
    const { io } = await import('socket.io-client')
    const { api, tokens } = await run('socket-io')
    const url = await start(api)
    const open = (token) => {
      const socket = io(url, { auth: { token }, reconnection: false, forceNew: true })
      onTestFinished(() => void socket.disconnect())
      return socket
    }
    const refused = await new Promise((resolve) => open('x.y.z').once('connect_error', resolve))
    expect(refused).toMatchObject({ message: 'invalid_token', data: { status: 401 } })

    const socket = open(issue(tokens))
    const closed = new Promise((resolve) => socket.once('disconnect', resolve))
    expect(await new Promise((resolve) => socket.once('account', resolve))).toBe('acc-1')
    expire()
    expect(await closed).toBe('io server disconnect')
  })

  it('server-sent-events: breaks off when the token expires, and does not watch a client that has left', async () => {
    const { app, tokens, lookUp } = await run('server-sent-events')
    const server = createServer(app)
    const responses = []
    server.prependListener('request', (_req, res) => responses.push(res))
    const url = `${await start(server)}/events`
    expect((await fetch(url)).status).toBe(401)

    const leaving = new AbortController()
    const left = new Promise((resolve) => {
      lookUp.before = async () => {
        leaving.abort()
        await once(responses.at(-1), 'close')
        resolve()
      }
    })
    await expect(fetch(url, { ...bearer(issue(tokens)), signal: leaving.signal })).rejects.toThrow('aborted')
    await left
    lookUp.before = vi.fn()
    const reader = (await fetch(url, bearer(issue(tokens)))).body.getReader()
    expect(String(Buffer.from((await reader.read()).value))).toBe('data: {"account":"acc-1"}\n\n')
    expire(40_000)
    await until(() => expect(lookUp.before).toHaveBeenCalledTimes(2)) // the guard's look-up, and one of a watcher

    const response = responses.at(-1)
    response.write('x'.repeat(20_000_000)) // more than the client reads
    expire()
    await once(response, 'close')
    const readAll = async () => (await reader.read()).done || readAll()
    await expect(readAll()).rejects.toThrow('terminated')
  })
})
