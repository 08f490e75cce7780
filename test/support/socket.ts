import { connect } from 'node:net'
import { onTestFinished } from 'vitest'

/** Opens a connection to loopback that a test writes bytes to, and counts texts in what the server responds. */
export function openSocket(port: number) {
  let received = ''
  const socket = connect(port, '127.0.0.1').on('data', (chunk) => {
    received += chunk
  })
  onTestFinished(() => void socket.destroy())
  return { write: (text: string) => socket.write(text), count: (text: string) => received.split(text).length - 1 }
}
