import { once } from 'node:events'
import { createServer, IncomingMessage, type RequestListener, type ServerOptions, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Express, RequestHandler } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { messageClasses } from '../../../example-app/web/message-classes.js'
import { EXPRESS } from '../../support/http.js'
import { send } from '../../support/plain-js/http-client.mjs'

/** Starts a server, with the classes of `app` unless the options have others, and returns its port. */
async function serve(app: Express, options: ServerOptions = messageClasses(app)) {
  const server = createServer(options, app as RequestListener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const get = async (port: number, path = '/') => (await send(port, { method: 'GET', path })).body

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
  const { protocol, path, query, fresh, xhr } = req
  res.json({
    express: { protocol, path, query, fresh, xhr, json: req.accepts('json') },
    facts: [facts(req), facts(res)],
    instances: [req instanceof IncomingMessage, res instanceof ServerResponse, req.res === res, res.req === req],
  })
}

describe.each(EXPRESS)('the classes of the page on a faster Express, %s', (_name, express) => {
  it('create objects with fast properties', async () => {
    const app = express().get('/', (req, res) => void res.json([req, res].map(hasFastProperties)))
    expect(await get(await serve(app))).toBe('[true,true]')
  })

  it('change nothing that a handler can see, also after a mounted app', async () => {
    const app = express().use(express().use((_req, _res, next) => next()))
    app.get('/x', describeBoth)
    const [usual, faster] = [await get(await serve(app, {}), '/x?a=1'), await get(await serve(app), '/x?a=1')]
    expect(faster).toBe(usual)
    expect(JSON.parse(faster)).toMatchObject({ express: { query: { a: '1' } }, instances: Array(4).fill(true) })
  })
})
