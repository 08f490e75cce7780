import { createClient } from '../../../support/plain-js/http-client.mjs'

/**
 * Creates a client that keeps its connections and retries a GET as browsers do (RFC 9110 section 9.2.2).
 * @param options `connections` is the number of connections. `address` is the client's own address. `kept: false` opens a connection for
 *   each request.
 */
export function client(port, { connections = 16, address = '127.0.0.1', kept = true } = {}) {
  const options = { connections, localAddress: address, keepAlive: kept, retry: true }
  const { send, close, retried } = createClient(port, options)
  return { send: (sent) => send({ method: 'GET', ...sent }), close, repeated: retried }
}
