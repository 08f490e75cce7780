import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import express, { type Express } from 'express'
import express4 from 'express4'
import { onTestFinished } from 'vitest'
import { ONLY_EXPRESS } from './runner/only-express.js'

/** The Express versions that hosts run. */
export const EXPRESS: [name: string, express: typeof express][] = ONLY_EXPRESS
  ? [[`Express ${ONLY_EXPRESS.version}`, express]]
  : [
      ['Express 4', express4 as unknown as typeof express],
      ['Express 5', express],
    ]

/** The host app's own token path, as the specification has it. */
export const TOKEN_PATH = '/api/v2013/authentication/token'

/** Starts an app on a free port of loopback, and stops it when the test is over. */
export async function listen(app: Express): Promise<{ server: Server; port: number; url: string }> {
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, port, url: `http://127.0.0.1:${port}` }
}

/** Sends bytes as they are, and gives what came back until the server closed the connection. */
export async function raw(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}
