import { once } from 'node:events'
import { createServer, type RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import express4 from 'express4'
import { onTestFinished } from 'vitest'
import { createClient, type Send } from './plain-js/http-client.mjs'
import { ONLY_EXPRESS } from './runner/only.js'

export { bearer, flood, login, type Send, sendBytes, TOKEN_PATH } from './plain-js/http-client.mjs'

/** The Express versions that hosts run. */
export const EXPRESS: [name: string, express: typeof express][] = ONLY_EXPRESS
  ? [[`Express ${ONLY_EXPRESS.version}`, express]]
  : [
      ['Express 4', express4 as unknown as typeof express],
      ['Express 5', express],
    ]

/** Returns the rows of a flood for one Express, the newest: the limits do not depend on its version. */
export const onNewest = <T>(name: string, rows: readonly T[]): readonly T[] =>
  name === EXPRESS.at(-1)?.[0] ? rows : []

/** Starts an app or a server on a free port of loopback, and stops it when the test ends. */
export async function listen(app: RequestListener | Server): Promise<{ server: Server; port: number; url: string }> {
  const server = app instanceof Server ? app : createServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, port, url: `http://127.0.0.1:${port}` }
}

/** Creates a client that keeps its connections and closes them when the test ends. */
export function client(port: number, connections?: number): Send {
  const { send, close } = createClient(port, connections === undefined ? {} : { connections })
  onTestFinished(close)
  return send
}
