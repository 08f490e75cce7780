import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const realNow = Date.now.bind(Date)

/** A request that the server has received. */
export interface Seen {
  method: string | undefined
  path: string
  authorization: string | undefined
  body: string
  /** The time of the request, in milliseconds. */
  at: number
}

/** Sends a response in place of the usual one. */
export type Handler = (res: ServerResponse, seen: Seen) => unknown

export const TOKEN_PATH = '/api/v2013/authentication/token'
export const EMAIL = 'alice@example.com'
export const PASSWORD = 'correct-horse-battery-staple'

const CHALLENGE = 'Bearer realm="https://api.example.com"'
export const INVALID_TOKEN = `${CHALLENGE}, error="invalid_token", error_description="The access token is not valid."`

/** Returns a handler that sends a status, headers and a body. */
export const sends =
  (status: number, headers: Record<string, string> = {}, body = ''): Handler =>
  (res) =>
    res.writeHead(status, headers).end(body)

/**
 * Starts an API with a token endpoint that follows the specification, until a test gives it faults. Its tokens are opaque, and live to
 * the millisecond. Its clock is its own.
 */
export async function startFaultServer() {
  const tokens = new Map<string, number>()
  const seen = { token: [] as Seen[], api: [] as Seen[] }
  /** Responses to the next requests, in order. */
  const next = { token: [] as Handler[], api: [] as Handler[] }
  /** Responses to all requests that `next` has nothing for. */
  const always: { token?: Handler; api?: Handler } = {}
  const state = {
    /** Milliseconds that a token lives. */
    lifetime: 3_600_000,
    /** Milliseconds that the server's clock is ahead of this machine's. */
    ahead: 0,
    sendsDate: true,
  }
  const now = () => realNow() + state.ahead

  function issue(res: ServerResponse): string {
    const token = `T${randomBytes(24).toString('base64url')}`
    const end = now() + state.lifetime
    tokens.set(token, end)
    const body = JSON.stringify({ authenticationToken: token, expiration: new Date(end).toISOString() })
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
    return token
  }

  const answerToken: Handler = (res, { body, authorization }) => {
    const { email, password } = JSON.parse(body)
    // A step-up has the token in place of the address.
    const isKnown = email === EMAIL || (tokens.get(String(authorization).replace(/^Bearer /, '')) ?? 0) > now()
    if (isKnown && password === PASSWORD) issue(res)
    else res.writeHead(403).end()
  }

  const answerApi: Handler = (res, { authorization, body, method }) => {
    const token = authorization?.replace(/^Bearer /, '')
    const isValid = token !== undefined && (tokens.get(token) ?? 0) > now()
    if (isValid) res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ method, body }))
    else res.writeHead(401, { 'WWW-Authenticate': token === undefined ? CHALLENGE : INVALID_TOKEN }).end()
  }

  const server = createServer(async (req: IncomingMessage, res) => {
    res.sendDate = false
    if (state.sendsDate) res.setHeader('Date', new Date(now()).toUTCString())
    const path = req.url ?? ''
    const kind = path.startsWith(TOKEN_PATH) ? 'token' : 'api'
    const { method, headers } = req
    const request = { method, path, authorization: headers.authorization, body: '', at: realNow() }
    seen[kind].push(request)
    try {
      request.body = await text(req)
    } catch {
      return
    }
    const usual = kind === 'token' ? answerToken : answerApi
    ;(next[kind].shift() ?? always[kind] ?? usual)(res, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    next,
    always,
    state,
    now,
    issue,
    answerToken,
    answerApi,
    /** Revokes all tokens. */
    revoke: () => tokens.clear(),
    /** Returns the tokens of all times, which must not be shown. */
    tokens,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type FaultServer = Awaited<ReturnType<typeof startFaultServer>>
