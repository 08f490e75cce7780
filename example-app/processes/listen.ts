import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { urlOf } from '../config.js'
import { Failure } from '../failure.js'
import { type DrainOptions, drainable } from './drain.js'

export interface Place {
  host: string
  port: number
  /** The variable that the port is from. */
  variable: string
}

export interface Listening {
  server: Server
  url: string
  drain: (options?: DrainOptions) => Promise<void>
}

/** @throws Failure when the port is taken */
export async function listen({ host, port, variable }: Place): Promise<Listening> {
  const server = createServer()
  const drain = drainable(server)
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new Failure(`Port ${port} of ${host} is taken by another program. Choose another: ${variable}=3100 npm start`)
  }
  return { server, drain, url: urlOf(host, (server.address() as AddressInfo).port) }
}

export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** What is open and has to be closed in the end. */
export function closer() {
  const open: (() => unknown)[] = []
  return {
    later: (close: () => unknown) => void open.push(close),
    now: async () => {
      await Promise.all(open.splice(0).map((close) => close()))
    },
    /** Closes all when what it is given fails. */
    async onFailure<T>(work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } catch (error) {
        await this.now()
        throw error
      }
    },
  }
}
