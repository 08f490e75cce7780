import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Stands before a server on this machine, and can lose its connections as a network does: without a word. */
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
    /** From now on nothing passes through the connections that there are; new ones work. */
    lose() {
      for (const [client, upstream] of connections) {
        client.unpipe().resume()
        upstream.unpipe().resume()
      }
    },
  }
}
