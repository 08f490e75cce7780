import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Starts a proxy in front of a local server. It can drop connections silently, as a network does. */
export async function startProxy(to: number) {
  const connections = new Set<[Socket, Socket]>()
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => {})
    client.pipe(upstream).pipe(client)
    connections.add([client, upstream])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const sockets of connections) for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    /** Closes the connections that there are. */
    cut,
    /** Blocks the current connections. New connections work. */
    lose() {
      for (const [client, upstream] of connections) {
        client.unpipe().resume()
        upstream.unpipe().resume()
      }
    },
  }
}
