// The HTTP client of all tests, attacks, benchmarks and load tests. Plain JavaScript, because programs without a TypeScript
// loader import this file too.
import { Agent, request } from 'node:http'
import { connect } from 'node:net'

/**
 * @typedef {object} Sent A request. By default a POST to {@link TOKEN_PATH}
 * @property {string} [method]
 * @property {string} [path]
 * @property {import('node:http').OutgoingHttpHeaders} [headers]
 * @property {string | Uint8Array} [body]
 * @property {AbortSignal} [signal] aborting it closes the connection
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {import('node:http').IncomingHttpHeaders} headers
 * @property {string[]} rawHeaders names and values in turn, as the server sent them
 * @property {string} body
 *
 * @typedef {(sent: Sent) => Promise<Answer>} Send
 */

/** The path of the token endpoint in the specification. */
export const TOKEN_PATH = '/api/v2013/authentication/token'
export const JSON_TYPE = { 'Content-Type': 'application/json' }
export const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** Creates a login request. `address` is the client address that the app sees behind its proxy. */
export function login(email, password, address = '192.0.2.1', path = TOKEN_PATH) {
  const headers = { ...JSON_TYPE, 'X-Forwarded-For': address }
  return { method: 'POST', path, headers, body: JSON.stringify({ email, password }) }
}

/** Creates a GET request with a bearer token. */
export const bearer = (token, path) => ({ method: 'GET', path, headers: { Authorization: `Bearer ${token}` } })

/** Node sends the body of a GET without a length, so the client sets `Content-Length` for every method. */
function withLength({ headers, body }) {
  if (body === undefined || headers?.['Transfer-Encoding']) return { ...headers }
  return { 'Content-Length': Buffer.byteLength(body), ...headers }
}

function exchange(port, sent, agent) {
  const { method = 'POST', path = TOKEN_PATH, body, signal } = sent
  const options = { host: '127.0.0.1', port, agent, method, path, headers: withLength(sent) }
  return new Promise((resolve, reject) => {
    let begun = false
    const req = request({ ...options, ...(signal && { signal }) }, (res) => {
      begun = true
      const chunks = []
      res.on('data', (chunk) => chunks.push(chunk))
      res.on('end', () => {
        const { statusCode: status, headers, rawHeaders } = res
        resolve({ status, headers, rawHeaders, body: Buffer.concat(chunks).toString() })
      })
      res.on('error', reject)
    })
    // The server may respond and close the connection before it has read the whole body.
    req.on('error', (error) => begun || reject(error))
    req.end(body)
  })
}

/**
 * Sends one request on its own connection, unchanged down to the bytes of its body.
 * @type {(port: number, sent: Sent) => Promise<Answer>}
 */
export const send = (port, sent) => exchange(port, sent, false)

/**
 * Creates a client with at most `connections` connections. Further requests wait.
 * @param {number} port
 * @param {{ connections?: number, localAddress?: string }} options `localAddress` is the client's own address
 * @returns {{ send: Send, close: () => void }}
 */
export function createClient(port, { connections = 50, localAddress } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, localAddress })
  return { send: (sent) => exchange(port, sent, agent), close: () => agent.destroy() }
}

/** Writes a request as text, with a `Host` and the length of its body. */
export function requestText(sent) {
  const { method = 'POST', path = TOKEN_PATH, body = '' } = sent
  const fields = Object.entries({ Host: 'x', ...withLength(sent) })
  return `${method} ${path} HTTP/1.1\r\n${fields.map((field) => `${field.join(': ')}\r\n`).join('')}\r\n${body}`
}

/** Sends bytes unchanged and returns everything that the server sends until it closes the connection. */
export function sendBytes(port, bytes) {
  const socket = connect(port, '127.0.0.1')
  const received = collect(socket)
  socket.write(bytes)
  return received
}

/** Sends a head and then the same chunk until the server closes the connection. Returns everything that the server sent. */
export async function sendEndlessly(port, head, chunk) {
  const socket = connect(port, '127.0.0.1')
  const received = collect(socket)
  socket.write(head)
  while (!socket.destroyed) {
    if (socket.write(chunk)) await new Promise(setImmediate)
    else await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), received])
  }
  return received
}

async function collect(socket) {
  const chunks = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('close', resolve))
  return Buffer.concat(chunks).toString('latin1')
}

/**
 * Sends `count` pipelined requests on a few connections, as fast as the server reads them. Returns the responses in the order of
 * the requests. Rejects when the server closes a connection before all its responses arrived.
 * @param {(i: number) => Sent} requestOf
 * @returns {Promise<Answer[]>}
 */
export async function flood(port, count, requestOf, connections = 8) {
  const requests = Array.from({ length: count }, (_, i) => requestOf(i))
  const share = Math.ceil(count / connections)
  const shares = Array.from({ length: connections }, (_, c) => requests.slice(c * share, (c + 1) * share))
  return (await Promise.all(shares.map((some) => pipeline(port, some)))).flat()
}

async function pipeline(port, requests) {
  const responses = []
  const socket = connect(port, '127.0.0.1', () => socket.write(requests.map(requestText).join('')))
  try {
    await new Promise((resolve, reject) => {
      let rest = ''
      socket.setEncoding('latin1')
      socket.on('data', (chunk) => {
        const [read, unread] = readResponses(rest + chunk)
        responses.push(...read)
        rest = unread
        if (responses.length === requests.length) socket.end(resolve)
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`closed after ${responses.length} of ${requests.length} responses`)))
    })
  } finally {
    socket.destroy()
  }
  return responses
}

/** Reads the complete responses at the start of a text. Returns them and the rest. Each response must have a `Content-Length`. */
function readResponses(text) {
  const responses = []
  for (let start = 0; ; ) {
    const end = text.indexOf('\r\n\r\n', start) + 4
    const [status = '', ...fields] = text.slice(start, end - 4).split('\r\n')
    const pairs = fields.map((field) => [field.replace(/:.*/, ''), field.replace(/^[^:]*: /, '')])
    const headers = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
    const next = end + Number(headers['content-length'])
    if (end < 4 || next > text.length) return [responses, text.slice(start)]
    const body = text.slice(end, next)
    responses.push({ status: Number(status.split(' ')[1]), headers, rawHeaders: pairs.flat(), body })
    start = next
  }
}
