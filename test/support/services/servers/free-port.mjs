import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Returns a port of loopback that nothing listens on. Systems give ports from 32,768 up to connections and to servers that ask for any
 * port, so a lower port stays free until it is used.
 */
export async function freePort() {
  const port = randomInt(20_000, 32_768)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}
