import { STATUS_CODES } from 'node:http'
import type { Response } from 'express'

/** Sends problem details (RFC 9457) with a code, as the package does. */
export function sendProblem(res: Response, status: number, code: string): void {
  res
    .status(status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, code }))
}
