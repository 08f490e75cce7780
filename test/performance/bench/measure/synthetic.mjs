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

export class SyntheticResponse {
  statusCode = 200
  headersSent = false

  constructor(onEnd) {
    this.end = onEnd
  }

  setHeader() {}
}

/** Creates a source of requests with the tokens in turn. */
export function requestsWith(tokens) {
  const headers = tokens.map((token) => Buffer.from(`Bearer ${token}`, 'latin1'))
  let at = 0
  return () => new SyntheticRequest(headers[at++ % headers.length].toString('latin1'))
}

/** Returns whether a guard accepts a token. */
export const isAccepted = (guard, token) =>
  new Promise((resolve) => {
    guard(requestsWith([token])(), new SyntheticResponse(() => resolve(false)), (error) => resolve(error === undefined))
  })
