import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'

/** How long a connection that has sent no whole request yet is waited for. Browsers keep such connections open. */
const SILENCE_MS = 1000

export interface DrainOptions {
  /**
   * Leaves connections that wait for a next request to their clients, as long as those were told that they may keep them: to
   * close one is to lose the request that is on its way. For a process whose work another one takes over.
   */
  gently?: boolean
}

/**
 * Watches a server from before its first request, so that it can be closed without losing one.
 * @returns stops accepting, lets the requests in flight finish, and closes every connection
 */
export function drainable(server: Server): (options?: DrainOptions) => Promise<void> {
  const sockets = new Set<Socket>()
  const unanswered = new Set<ServerResponse>()
  let closing = false

  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.prependListener('request', (_req, res) => {
    unanswered.add(res)
    res.once('close', () => unanswered.delete(res))
    if (closing) sayGoodbye(res)
  })

  return async function drain({ gently = false } = {}) {
    closing = true
    const closed = once(server, 'close')
    // That of an HTTP server closes idle connections too.
    if (gently) NetServer.prototype.close.call(server)
    else server.close()
    unanswered.forEach(sayGoodbye)
    const timer = setTimeout(
      () => {
        const busy = new Set([...unanswered].map((res) => res.req.socket))
        for (const socket of sockets) if (!busy.has(socket)) socket.destroy()
      },
      SILENCE_MS + (gently ? server.keepAliveTimeout : 0),
    )
    await closed
    clearTimeout(timer)
  }
}

/** The client is not to send another request on this connection, and Node closes it behind the answer. */
function sayGoodbye(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close')
}
