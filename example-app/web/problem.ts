import { STATUS_CODES } from 'node:http'
import type { Response } from 'express'
import type { AuthError } from 'express-token-endpoint'

/** Sends problem details (RFC 9457) with a code, as the package does. */
export function sendProblem(res: Response, status: number, code: string): void {
  res
    .status(status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, code }))
}

/** Sends a refusal of the package, for an API that has no `auth.errors` because it only verifies tokens. */
export function sendRefusal(res: Response, error: AuthError, headers: Readonly<Record<string, string>> = {}): void {
  res
    .status(error.status)
    .set({ 'Cache-Control': 'no-store', Pragma: 'no-cache', ...error.headers, ...headers })
    .type('application/problem+json')
    .send(JSON.stringify(error.toProblem()))
}
