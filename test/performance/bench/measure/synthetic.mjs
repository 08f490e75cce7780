/**
 * Creates requests and responses with the members that the guards use, without a server. Each request has a new header text, as from
 * Node's parser. A text that was already used as a key knows its own hash, so its look-up would cost almost nothing.
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

/** Creates a source of requests with the tokens in turn. The source continues after the last token that it used. */
export function requestsWith(tokens) {
  const headers = tokens.map((token) => Buffer.from(`Bearer ${token}`, 'latin1'))
  let at = 0
  return (count) =>
    Array.from({ length: count }, () => new SyntheticRequest(headers[at++ % headers.length].toString('latin1')))
}

/** Returns whether a guard accepts a token. */
export const isAccepted = (guard, token) =>
  new Promise((resolve) => {
    const [request] = requestsWith([token])(1)
    guard(request, new SyntheticResponse(() => resolve(false)), (error) => resolve(error === undefined))
  })

/**
 * Sends requests through a guard, one after the other.
 *
 * Some guards call `next` before they return, others in a later microtask. One driver serves both. A loop continues while `next` was
 * called synchronously, and the first later `next` starts the loop again. So no guard pays for a promise that it does not use.
 * @returns the time in milliseconds
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

/** A small batch, so that its objects are still young when they are used, as on a server. */
const BATCH = 500

/** Returns the microseconds of one guard call, without the creation of the requests. */
export async function microsecondsPerCall(guard, requests, calls) {
  let elapsed = 0
  for (let left = calls; left > 0; left -= BATCH) elapsed += await drive(guard, requests(Math.min(left, BATCH)))
  return (elapsed / calls) * 1000
}
