import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import { isAuthError } from 'express-token-endpoint'
import { explain, Outage } from '../errors.js'
import { type Checks, healthRouter } from './health-router.js'
import { sendProblem, sendRefusal } from './problem.js'
import { securityHeaders } from './security-headers.js'

export interface BaseDependencies {
  /** The app that gets the routes. Default: a new app. */
  app?: Express
  /** Checks that `/readyz` runs. */
  checks: Checks
  /** Number of proxies that set `X-Forwarded-For`. Default: 0. */
  trustedProxies?: number
  /** Called with one line for each refusal and each failure. */
  log: (line: string) => void
}

/**
 * Returns an app with the middleware that both APIs have around their own routes.
 * @param issuer the base URL of the clearing-house API
 */
export function createBaseApp(
  { app = express(), checks, trustedProxies = 0, log }: BaseDependencies,
  issuer: string,
  ...routes: RequestHandler[]
): Express {
  app.set('trust proxy', trustedProxies)
  app.use(securityHeaders(issuer), healthRouter(checks), ...routes)
  app.use((_req, res) => sendProblem(res, 404, 'not_found'))
  app.use(errorHandler(log))
  return app
}

/** Replaces Express's own error handler, which would send the stack. */
function errorHandler(log: (line: string) => void): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    if (res.headersSent) return next(error)
    const status = Number((error as { status?: unknown } | null)?.status)
    if (status >= 400 && status < 500) return sendProblem(res, status, 'bad_request')
    if (isAuthError(error)) return sendRefusal(res, error)
    log(explain(error))
    if (error instanceof Outage) return sendProblem(res.set('Retry-After', '1'), 503, 'unavailable')
    sendProblem(res, 500, 'internal_error')
  }
}
