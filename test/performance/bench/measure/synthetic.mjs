/**
 * Requests and responses with what the guards use of them, and no server.
 *
 * The header's text is made anew for each request, as Node's parser does: a text that was used as a key before knows its
 * own hash, and a look-up of it would cost next to nothing.
 */
const RAW_HEADERS = ['Host', 'localhost:3000', 'User-Agent', 'bench', 'Accept', '*/*', 'Accept-Encoding', 'gzip, br']

class SyntheticRequest {
  method = 'GET'
  url = '/statements'
  originalUrl = '/statements'
  protocol = 'http'
  query = {}
  body = undefined
  ip = '127.0.0.1'

  constructor(authorization) {
    this.headers = {
      host: 'localhost:3000',
      'user-agent': 'bench',
      accept: '*/*',
      'accept-encoding': 'gzip, br',
      authorization,
      connection: 'keep-alive',
    }
    this.rawHeaders = [...RAW_HEADERS, 'Authorization', authorization, 'Connection', 'keep-alive']
  }

  get(name) {
    return this.headers[name.toLowerCase()]
  }

  is() {
    return false
  }
}

class SyntheticResponse {
  statusCode = 200
  headersSent = false

  constructor(onEnd) {
    this.end = onEnd
  }

  setHeader() {}
}

/** A source of requests that carries the tokens in turn, and goes on where it stopped. */
export function requestsWith(tokens) {
  const headers = tokens.map((token) => Buffer.from(`Bearer ${token}`, 'latin1'))
  let at = 0
  return (count) =>
    Array.from({ length: count }, () => new SyntheticRequest(headers[at++ % headers.length].toString('latin1')))
}

/** Whether a guard lets a token through. */
export const isAccepted = (guard, token) =>
  new Promise((resolve) => {
    const [request] = requestsWith([token])(1)
    guard(request, new SyntheticResponse(() => resolve(false)), (error) => resolve(error === undefined))
  })

/**
 * Sends requests through a guard, one after the other.
 *
 * Some guards call `next` before they return, others in a later microtask. One driver serves both: a loop goes on for as long as
 * `next` has been called meanwhile, and is entered again by the first `next` that comes later. So a guard that answers at once
 * does not pay for a promise that it does not use, and one that does not pays for none but its own.
 * @returns the time that it took, in milliseconds
 */
function drive(guard, requests) {
  return new Promise((resolve, reject) => {
    const response = new SyntheticResponse(() => reject(new Error('a guard refused a good token')))
    let sent = 0
    let looping = false
    let answered = true

    function loop() {
      looping = true
      while (answered && sent < requests.length) {
        answered = false
        guard(requests[sent++], response, next)
      }
      looping = false
      if (answered) resolve(performance.now() - started)
    }

    function next(error) {
      if (error) return reject(error)
      answered = true
      if (!looping) loop()
    }

    const started = performance.now()
    loop()
  })
}

/** Few at a time, so that they are still young when they are used, as a server's are. */
const BATCH = 500

/** What a call of the guard takes, in microseconds. Making the requests is not counted. */
export async function microsecondsPerCall(guard, requests, calls) {
  let elapsed = 0
  for (let left = calls; left > 0; left -= BATCH) elapsed += await drive(guard, requests(Math.min(left, BATCH)))
  return (elapsed / calls) * 1000
}
