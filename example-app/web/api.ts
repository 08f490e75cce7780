import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { TokenVerifier } from 'express-token-endpoint'
import { explain, Outage } from '../failure.js'
import { type Checks, healthRouter } from './health-router.js'
import { sendProblem } from './problem.js'
import { securityHeaders } from './security-headers.js'

export interface ApiParts {
  tokens: TokenVerifier
  /** What `/readyz` asks. */
  checks: Checks
  /** Takes one line about what was refused or failed. */
  log: (line: string) => void
}

/** What both APIs have around their routes. */
export function createApi({ tokens, checks, log }: ApiParts, ...routes: RequestHandler[]): Express {
  const app = express()
  app.use(securityHeaders(tokens.issuer), healthRouter(checks), ...routes)
  app.use((_req, res) => sendProblem(res, 404, 'not_found'))
  app.use(errorHandler(log))
  return app
}

/** Express's own would send the stack. */
function errorHandler(log: (line: string) => void): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    if (res.headersSent) return next(error)
    const status = Number((error as { status?: unknown } | null)?.status)
    if (status >= 400 && status < 500) return sendProblem(res, status, 'bad_request')
    log(explain(error))
    if (error instanceof Outage) return sendProblem(res.set('Retry-After', '1'), 503, 'unavailable')
    sendProblem(res, 500, 'internal_error')
  }
}
