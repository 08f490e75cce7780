import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { deferred } from './concurrency.js'

/** Creates a listener that responds with a value as JSON, or with unchanged text. */
export function answering(value: unknown, status = 200): RequestListener {
  return (_req, res) => void res.writeHead(status).end(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Creates a URL like jsdom's: not an instance of this process's `URL`, and with `href` as a getter of its class. */
export const foreignUrl = (text: string): URL =>
  Object.create({
    get href() {
      return text
    },
    toString: () => text,
  })

/** Starts a server of public keys on loopback. A test sets its response, stops it and restarts it. */
export async function startSource(first: unknown = { keys: [] }) {
  let listener = typeof first === 'function' ? (first as RequestListener) : answering(first)
  let requests = 0
  let held: Promise<void> | undefined
  const server = createServer(async (req, res) => {
    requests++
    const answer = listener
    await held
    answer(req, res)
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const stop = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  onTestFinished(stop)
  const port = await listen(0)
  return {
    url: `http://127.0.0.1:${port}/jwks.json`,
    requests: () => requests,
    /** Sets the response to all later requests. */
    serve: (value: unknown) => {
      listener = typeof value === 'function' ? (value as RequestListener) : answering(value)
    },
    /** Delays requests until the returned function is called. */
    hold: () => {
      const { promise, resolve } = deferred<void>()
      held = promise
      return resolve
    },
    stop,
    restart: () => listen(port),
  }
}
