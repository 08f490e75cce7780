import type { IncomingMessage } from 'node:http'
import { clientNetwork } from '../../accounts/throttle/client-network.js'
import type { Source } from '../../shared/queues/fair-queue.js'

/** Returns the client's address: Express's `req.ip`, or the socket's where there is no Express. */
export function addressOf(req: IncomingMessage & { ip?: string | undefined }): string | undefined {
  return req.ip ?? req.socket?.remoteAddress
}

/** Returns where a request comes from, for the queues. */
export function sourceOf(req: IncomingMessage & { ip?: string | undefined }): Source {
  return { network: clientNetwork(addressOf(req)), connection: req.socket ?? undefined }
}
