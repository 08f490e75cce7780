import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import gracefulShutdown from 'http-graceful-shutdown'
import { urlOf } from '../config.js'
import { OperatorError } from '../errors.js'
import { STOP_LIMIT_MS } from './signals.js'

export interface Address {
  host: string
  port: number
  /** The environment variable that sets the port. */
  variable: 'PORT' | 'REPORTING_PORT'
}

export interface Listening {
  /** Receives every request. It has no routes yet. */
  app: Express
  port: number
  url: string
  /** Stops accepting connections, finishes the requests in flight, and closes every connection. */
  drain: () => Promise<void>
}

/** @throws OperatorError when another program uses the port */
export async function listen({ host, port, variable }: Address): Promise<Listening> {
  const app = express()
  const server = createServer(app)
  // The library handles no signal itself, because `stopOnSignals` stops two servers and their databases.
  const drain = gracefulShutdown(server, { signals: '', forceExit: false, timeout: STOP_LIMIT_MS })
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new OperatorError(`Another program uses port ${port} of ${host}. Set another: ${variable}=3100 npm start`)
  }
  const address = server.address() as AddressInfo
  return { app, drain, port: address.port, url: urlOf(host, address.port) }
}
