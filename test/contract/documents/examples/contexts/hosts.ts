import type { Contexts } from '../../../../support/documents/examples.js'
import { HOST } from './host.js'

const SERVER = `${HOST}
    import { createServer } from 'node:http'
    export const api = createServer()
    const server = api`

/** Blocks that import packages of `test/hosts`. */
export const HOSTS: Contexts = {
  nest: HOST,
  fastify: HOST,
  apollo: HOST,
  trpc: HOST,
  'session-or-token': HOST,
  ws: SERVER,
  'socket-io': SERVER,
  'server-sent-events': HOST,
}
