import type { IncomingMessage } from 'node:http'
import { addressOf, sourceOf } from '../requests/source.js'
import type { Source } from '../waiting/fair-queue.js'

/**
 * A request, and where it comes from. Each fact is read once, when a step needs it, and before the first wait: a stream of HTTP/2 that has
 * ended does not know its connection any more.
 */
export interface Origin {
  readonly req: IncomingMessage & { ip?: string | undefined }
  address: string | undefined
  source: Source | undefined
}

/** Returns the client's address, for events. */
export function addressIn(origin: Origin): string | undefined {
  origin.address ??= addressOf(origin.req)
  return origin.address
}

/** Returns the client's network and connection, for the queues. */
export function sourceIn(origin: Origin): Source {
  origin.source ??= sourceOf(origin.req, addressIn(origin))
  return origin.source
}
