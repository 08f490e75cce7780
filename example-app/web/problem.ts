import { STATUS_CODES } from 'node:http'
import type { Response } from 'express'

/** An error's answer, in the form of the package's own: problem details (RFC 9457) with a code. */
export function sendProblem(res: Response, status: number, code: string): void {
  res
    .status(status)
    .type('application/problem+json')
    .send(JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, code }))
}
