import express, { type ErrorRequestHandler, type Express } from 'express'
import { type AuthEvent, type Passwords, type Throttle, type TokenIssuer, tokenRouter } from 'express-token-endpoint'
import type { Accounts } from './account-store.js'
import { clearingHouseRouter } from './clearing-house.js'
import { explain, Outage } from './failure.js'
import { type Checks, healthRouter } from './health.js'
import { eventLine } from './log.js'
import { sendProblem } from './problem.js'
import type { Revocation } from './revocation.js'
import { signOutRouter } from './sign-out.js'
import type { Statements } from './statements.js'

export interface AppParts {
  tokens: TokenIssuer
  accounts: Accounts
  statements: Statements
  passwords: Passwords
  throttle: Throttle
  revocation: Revocation
  /** What `/readyz` asks. */
  checks: Checks
  /** Takes one line about what was refused or failed. */
  log: (line: string) => void
}

/** The clearing-house API, not yet listening. */
export function createApp(parts: AppParts): Express {
  const { tokens, accounts, statements, passwords, throttle, revocation, checks, log } = parts
  const onEvent = (event: AuthEvent) => {
    const line = eventLine(event)
    if (line) log(line)
  }
  const app = express()
  app.disable('x-powered-by')
  app.use(healthRouter(checks))
  app.use(tokenRouter({ tokens, accounts, passwords, throttle, onEvent }))
  app.use(signOutRouter({ tokens, accounts, revocation, onEvent }))
  app.use(clearingHouseRouter({ tokens, accounts, statements, isRevoked: revocation.isRevoked, onEvent }))
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
