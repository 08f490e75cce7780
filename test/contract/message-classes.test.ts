import { once } from 'node:events'
import { createServer, IncomingMessage, type RequestListener, type ServerOptions, ServerResponse } from 'node:http'
import { createServer as createHttpsServer, request as requestHttps } from 'node:https'
import { type AddressInfo, type Server, Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Express, RequestHandler } from 'express'
import { requireBearer } from 'express-token-endpoint'
import { describe, expect, it, onTestFinished } from 'vitest'
import { messageClasses } from '../../example-app/web/message-classes.js'
import { makeIssuer } from '../support/fixtures.js'
import { EXPRESS } from '../support/http.js'
import { bearer, send, sendBytes } from '../support/plain-js/http-client.mjs'

/** Starts a server on a free port of loopback, and stops it when the test ends. */
async function start<S extends Server & { closeAllConnections: () => void }>(server: S) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** Starts a server with the classes of `app`. */
const serve = (app: Express, options: ServerOptions = {}, listener: RequestListener = app as RequestListener) =>
  start(createServer({ ...messageClasses(app), ...options }, listener))

const get = async (port: number, path = '/') => (await send(port, { method: 'GET', path })).body

const upgradeTo = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`
const expecting = (value: string) =>
  `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: ${value}\r\nContent-Length: 2\r\n\r\nok`

/** Returns whether V8 stores the properties of an object at fixed offsets, and not in a dictionary. */
function hasFastProperties(object: object): boolean {
  setFlagsFromString('--allow-natives-syntax')
  const isFast = runInNewContext('%HasFastProperties(object)', { object })
  setFlagsFromString('--no-allow-natives-syntax')
  return isFast
}

/** Describes a request and its response, as a handler sees them. */
const describeBoth: RequestHandler = (req, res) => {
  const facts = (object: object) => ({ name: object.constructor.name, keys: Object.keys(object), text: `${object}` })
  const { ip, protocol, path, query, hostname, fresh, xhr } = req
  res.locals['described'] = true
  res.set('X-Own', 'own').json({
    express: { ip, protocol, path, query, hostname, fresh, xhr, host: req.get('host'), json: req.accepts('json') },
    req: facts(req),
    res: { ...facts(res), locals: res.locals },
    instances: [req instanceof IncomingMessage, res instanceof ServerResponse, req.res === res, res.req === req],
  })
}

describe.each(EXPRESS)('the classes of the page on a faster Express, %s', (_name, express) => {
  const named = (name: string) => express().get('/', (_req, res) => void res.send(name))

  it('give each request and each response the prototype that Express sets', async () => {
    const app = named('one')
    const early: boolean[] = []
    const { port } = await serve(app, {}, (req, res) => {
      early.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response)
      app(req as never, res as never)
    })
    expect(await get(port)).toBe('one')
    expect(early).toEqual([true, true])
  })

  it('create objects with fast properties', async () => {
    const app = express().get('/', (req, res) => void res.json([req, res].map(hasFastProperties)))
    expect(await get((await serve(app)).port)).toBe('[true,true]')
  })

  it('change nothing that a handler can see, also after a mounted app', async () => {
    const app = express().use(express().use((_req, _res, next) => next()))
    app.get('/x', describeBoth)
    const [usual, faster] = [await start(createServer(app as RequestListener)), await serve(app)]
    const [before, after] = await Promise.all(
      [usual, faster].map(({ port }) => send(port, { method: 'GET', path: '/x?a=1' })),
    )
    const portless = (answer = before) => answer?.body.replace(/127\.0\.0\.1:\d+/, '')
    expect(portless(after)).toBe(portless(before))
    expect(JSON.parse(after?.body ?? '')).toMatchObject({
      express: { query: { a: '1' } },
      instances: [true, true, true, true],
    })
    expect(after?.headers).toMatchObject({ 'x-powered-by': 'Express', 'x-own': 'own', etag: expect.any(String) })
  })

  it('admit a valid token and refuse a forged token', async () => {
    const tokens = makeIssuer()
    const app = express().get('/', requireBearer({ tokens }), (_req, res) => void res.send('admitted'))
    const { port } = await serve(app)
    const { token } = tokens.issue({ accountId: 'acc-1' })
    expect(await send(port, bearer(token, '/'))).toMatchObject({ status: 200, body: 'admitted' })
    expect(await send(port, bearer(`${token}x`, '/'))).toMatchObject({ status: 401 })
  })

  it('let a mounted app have its own members, and restore those of the outer app', async () => {
    const [outer, inner] = [express(), express()]
    Object.assign(outer.request, { name: 'outer' })
    Object.assign(inner.request, { name: 'inner' })
    const names: unknown[] = []
    const note: RequestHandler = (req, res, next) => {
      names.push((req as unknown as { name: string }).name, req.app === outer, res.app === outer)
      next()
    }
    outer.use(note, inner.use(note), note, (_req, res) => void res.send('done'))
    expect(await get((await serve(outer)).port)).toBe('done')
    expect(names).toEqual(['outer', true, true, 'inner', false, false, 'outer', true, true])
  })

  it('see properties and getters that are added to the prototypes later, and a later prototype', async () => {
    const app = express().get('/', (req, res) => {
      const { user, tenant } = req as unknown as Record<string, string>
      res.send(`${user} ${tenant}`)
    })
    const { port } = await serve(app)
    expect(await get(port)).toBe('undefined undefined')
    Object.defineProperty(app.request, 'user', { get: () => 'alice', configurable: true })
    Object.assign(app.request, { tenant: 'north' })
    expect(await get(port)).toBe('alice north')
    app.request = Object.create(app.request, { tenant: { value: 'south' } })
    app.response = Object.create(app.response, {
      send: {
        value(body: string) {
          return this.end(`${body}!`)
        },
      },
    })
    expect(await get(port)).toBe('alice south!')
  })

  it('serve several apps on one server', async () => {
    const [one, two] = [named('one'), named('two')]
    const { port } = await serve(one, {}, (req, res) =>
      (req.headers.host === 'two' ? two : one)(req as never, res as never),
    )
    const ask = async (Host: string) => (await send(port, { method: 'GET', path: '/', headers: { Host } })).body
    expect([await ask('one'), await ask('two'), await ask('one')]).toEqual(['one', 'two', 'one'])
  })

  it('pass on what Node passes to the constructors, and leave the other options of the server', async () => {
    const app = express().get('/', (req, res) => {
      res.send(`${req.socket instanceof Socket} ${req.readableHighWaterMark} ${res.writableHighWaterMark}`)
    })
    const { IncomingMessage: Request, ServerResponse: Response } = messageClasses(app)
    const response = Reflect.construct(Response, [new Request(new Socket()), { highWaterMark: 5 }])
    expect(response.writableHighWaterMark).toBe(5)
    const { port } = await serve(app, { highWaterMark: 12_345, maxHeaderSize: 200 })
    expect(await get(port)).toBe('true 12345 12345')
    expect(await send(port, bearer('x'.repeat(200), '/'))).toMatchObject({ status: 431 })
  })

  it('serve requests that expect 100-continue, with and without a listener', async () => {
    const app = express().post('/', (_req, res) => void res.send('done'))
    const { server, port } = await serve(app)
    expect(await sendBytes(port, expecting('100-continue'))).toMatch(
      /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK.*done$/s,
    )
    expect(await sendBytes(port, expecting('tea'))).toMatch(/^HTTP\/1.1 417 /)
    server.on('checkContinue', (req, res) => {
      res.setHeader('X-Checked', `${req instanceof IncomingMessage}`)
      app(req, res)
    })
    expect(await sendBytes(port, expecting('100-continue'))).toMatch(/^HTTP\/1.1 200 OK.*X-Checked: true.*done$/s)
  })

  it('give an upgrade listener a request whose getters of Express cannot be assigned', async () => {
    const app = named('one')
    const { server, port } = await serve(app)
    server.on('upgrade', (req, socket: Socket) => {
      const assign = () => Object.assign(req, { path: '/other' })
      expect(assign).toThrow(TypeError)
      socket.end(`${req instanceof IncomingMessage} ${req.url} ${req.headers.upgrade}`)
    })
    expect(await sendBytes(port, upgradeTo('/socket'))).toBe('true /socket websocket')
    expect(await get(port)).toBe('one')
  })

  it('throw in the constructor for a getter with a name that Node assigns', () => {
    const app = express()
    const { IncomingMessage: Request } = messageClasses(app)
    expect(new Request(new Socket()).url).toBe('')
    Object.defineProperty(app.request, 'url', { get: () => '/' })
    expect(() => new Request(new Socket())).toThrow(TypeError)
  })

  it('work over TLS', async () => {
    // A shared key needs no certificate.
    const psk = Buffer.alloc(16, 1)
    const tls = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const
    const app = express().get('/', (req, res) => {
      res.send(`${req.secure} ${Object.getPrototypeOf(req) === app.request}`)
    })
    const options = { ...tls, pskCallback: () => psk, ...messageClasses(app) }
    const { port } = await start(createHttpsServer(options, app as RequestListener))
    const known = { pskCallback: () => ({ psk, identity: 'x' }), checkServerIdentity: () => undefined }
    const [response] = await once(requestHttps({ ...tls, ...known, port, agent: false }).end(), 'response')
    expect(String(await response.toArray())).toBe('true true')
  })
})
