import type { ErrorRequestHandler } from 'express'
import { type AuthError, isAuthError } from '../errors/auth-error.js'
import type { AuthErrorCode } from '../errors/codes.js'
import { has, type Refusals, rowOf } from '../errors/refusal.js'
import type { Emit } from '../events/emitter.js'
import { reportRefusal } from '../events/report-refusal.js'
import { FEATURES } from '../features/features.js'
import { GUARD_REFUSALS } from '../guard/refuse.js'
import { refusalsOf } from '../http/declaration.js'
import { addressOf } from '../http/origin.js'
import { parserRefusal } from '../http/parser-refusal.js'
import { type Refuse, sendRefusal } from '../http/refuse.js'
import { hasToClose } from '../http/send-response.js'
import { LOGIN_REFUSALS } from '../login/login-refusals.js'

/** The refusals of all endpoints and guards, in the order in which a code is looked for. */
const ALL: readonly Refusals[] = [
  ...Object.values(FEATURES).flatMap(({ endpoints }) => endpoints.filter(({ guard }) => !guard).map(refusalsOf)),
  GUARD_REFUSALS,
]

/** Returns the refusals that an error of a function of the app belongs to. Those of the endpoints of a user are events of its guard. */
export const refusalsWith = (error: AuthError): Refusals =>
  (rowOf(error) ? ALL.find((one) => has(one, error)) : LOGIN_REFUSALS) ?? {
    codes: new Set([error.code as AuthErrorCode]),
    events: 'bearer',
  }

interface ErrorsSettings {
  /** Reports each refusal that no login, router or guard has reported. */
  emit: Emit
  refuse: Refuse | undefined
}

/**
 * Creates an Express error handler that sends an `AuthError` as the routers and the guard do: its status, its headers
 * and problem details (RFC 9457). An error of Express's body parsers, which may hold a password, becomes `invalid_body`, `body_too_large`,
 * `unsupported_media_type` or `client_closed_request`. Passes every other error on.
 */
export function authErrors({ emit, refuse }: ErrorsSettings): ErrorRequestHandler {
  return function sendAuthError(thrown, req, res, next) {
    const error = isAuthError(thrown) ? thrown : parserRefusal(thrown)
    if (!error || res.headersSent) {
      next(error ?? thrown)
      return
    }
    const refusal = reportRefusal(emit, { address: addressOf(req) }, refusalsWith(error), error)
    sendRefusal({ refuse }, refusal, req, res, next, hasToClose(req))
  }
}
