import { Agent, request } from 'node:http'

/** Error codes of a request on a keep-alive connection that the server closes at the same moment. */
const RACE = new Set(['ECONNRESET', 'EPIPE'])

/**
 * Creates a client with keep-alive connections. Like browsers, it repeats a `GET` when the server closes such a connection before
 * the first byte of the response (RFC 9110 section 9.2.2).
 * @param options `connections` is their number, `address` the local address; `kept: false` opens a connection for each request
 */
export function client(port, { connections = 16, address = '127.0.0.1', kept = true } = {}) {
  const agent = new Agent({ keepAlive: kept, maxSockets: connections, localAddress: address })
  let repeated = 0

  const once = ({ method = 'GET', path, headers, body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
      const options = { host: '127.0.0.1', port, agent, method, path, headers: { ...length, ...headers } }
      let begun = false
      const fail = (error) => reject(Object.assign(error, { race: !begun && req.reusedSocket && RACE.has(error.code) }))
      const req = request(options, (res) => {
        begun = true
        let text = ''
        res.setEncoding('utf8')
        res.on('data', (chunk) => {
          text += chunk
        })
        res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body: text }))
        res.on('error', fail)
      })
      req.on('error', fail)
      req.end(body)
    })

  async function send(options) {
    for (;;) {
      try {
        return await once(options)
      } catch (error) {
        if (!error.race || (options.method ?? 'GET') !== 'GET') throw error
        repeated++
      }
    }
  }
  return { send, close: () => agent.destroy(), repeated: () => repeated }
}
