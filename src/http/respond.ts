import { type ServerResponse, STATUS_CODES } from 'node:http'
import { AuthError, type AuthErrorCode } from '../errors.js'

/** RFC 6750 section 3.1: the error code of a challenge. Without a token there is none to complain about. */
const CHALLENGES: Partial<Record<AuthErrorCode, string | null>> = {
  missing_token: null,
  invalid_request: 'invalid_request',
  invalid_token: 'invalid_token',
  insufficient_scope: 'insufficient_scope',
}

/** Nothing that has to do with a token or a password is to be kept by a cache (RFC 6749 section 5.1). */
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** The token call's answer: these two members and no third. `expiration` is the token's own `exp`. */
export function sendToken(res: ServerResponse, token: string, expiresAt: Date): void {
  const body = JSON.stringify({ authenticationToken: token, expiration: expiresAt.toISOString() })
  send(res, 200, { ...NO_STORE, 'Content-Type': 'application/json; charset=utf-8' }, body)
}

/** The answer to a refusal, as problem details (RFC 9457); empty for invalid credentials, as the specification has it. */
export function sendRefusal(
  res: ServerResponse,
  error: AuthError,
  headers: Readonly<Record<string, string>> = {},
  finish: Finish = end,
): void {
  const { code, status, message } = error
  const all = { ...NO_STORE, ...error.headers, ...headers }
  if (code === 'invalid_credentials') {
    send(res, status, all, '', finish)
  } else {
    const problem = { type: 'about:blank', title: STATUS_CODES[status], status, code, detail: message }
    send(res, status, { ...all, 'Content-Type': 'application/problem+json' }, JSON.stringify(problem), finish)
  }
}

/**
 * What a refusal becomes before it is sent: an unforeseen failure is a `503` like any other, and its cause goes to the
 * observer, not to the client.
 */
export function asRefusal(error: unknown): AuthError {
  return error instanceof AuthError ? error : new AuthError('unavailable', { dependency: 'internal', cause: error })
}

/** The `WWW-Authenticate` header of a refusal (RFC 6750 section 3, RFC 9110 section 11.6.1), where it takes one. */
export function challengeOf({ code, message, scope }: AuthError, realm: string): Record<string, string> {
  const error = CHALLENGES[code]
  if (error === undefined) return {}
  const parameters = [
    ['realm', realm],
    ...(error
      ? [
          ['error', error],
          ['error_description', message],
        ]
      : []),
    ...(scope ? [['scope', scope.join(' ')]] : []),
  ]
  const quoted = parameters.map(([name, value = '']) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`)
  return { 'WWW-Authenticate': `Bearer ${quoted.join(', ')}` }
}

/** Sends the body of an answer, and ends it. */
export type Finish = (res: ServerResponse, body: string) => void

const end: Finish = (res, body) => {
  res.end(body)
}

function send(
  res: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
  finish: Finish = end,
): void {
  if (res.headersSent) return
  res.statusCode = status
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.setHeader('Content-Length', Buffer.byteLength(body))
  finish(res, body)
}
