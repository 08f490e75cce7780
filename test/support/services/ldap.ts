import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** BER (X.690): a tag, a length in one byte or in as many as its low bits say, and the content. */
interface Element {
  tag: number
  content: Buffer
  /** The bytes after this element. */
  rest: Buffer
}

/** @returns undefined while some of it is still on its way */
function readElement(bytes: Buffer): Element | undefined {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined) return undefined
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  const start = 2 + lengthBytes
  if (bytes.length < start) return undefined
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes)
  if (bytes.length < start + length) return undefined
  return { tag, content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) }
}

function readElements(bytes: Buffer): Element[] {
  const element = readElement(bytes)
  return element ? [element, ...readElements(element.rest)] : []
}

const SEQUENCE = 0x30
const INTEGER = 0x02
const ENUMERATED = 0x0a
const OCTET_STRING = 0x04
const BIND_REQUEST = 0x60
const BIND_RESPONSE = 0x61
const SUCCESS = 0
const INVALID_CREDENTIALS = 49

/** Contents here are short enough for a length of one byte. */
const element = (tag: number, ...contents: Uint8Array[]) =>
  Buffer.concat([Uint8Array.of(tag, Buffer.concat(contents).length), ...contents])

/** LDAPMessage with a BindResponse (RFC 4511 sections 4.1.1 and 4.2.2). */
function bindResponse(messageId: Buffer, resultCode: number): Buffer {
  const result = [element(ENUMERATED, Uint8Array.of(resultCode)), element(OCTET_STRING), element(OCTET_STRING)]
  return element(SEQUENCE, element(INTEGER, messageId), element(BIND_RESPONSE, ...result))
}

/**
 * Starts a directory that accepts binds. Like many directories, it accepts each bind without a password (RFC 4513 section
 * 5.1.2). It stops when the test ends.
 * @param entries passwords by name. A bind to a name with `undefined` gets no response
 */
export async function startLdap(entries: Readonly<Record<string, string | undefined>>) {
  const binds: string[] = []
  const sockets = new Set<Socket>()

  function answer(socket: Socket, message: Buffer): void {
    const [id, operation] = readElements(message)
    if (!id || operation?.tag !== BIND_REQUEST) return void socket.end()
    const [, name = '', password = ''] = readElements(operation.content).map(({ content }) => content.toString())
    binds.push(name)
    if (name in entries && entries[name] === undefined) return
    const good = password === '' || entries[name] === password
    socket.write(bindResponse(id.content, good ? SUCCESS : INVALID_CREDENTIALS))
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let received: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      for (let message = readElement(received); message; message = readElement(received)) {
        received = message.rest
        answer(socket, message.content)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  onTestFinished(stop)
  return { url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`, binds, stop }
}
