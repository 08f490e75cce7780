import type { ErrorRequestHandler } from 'express'
import { isAuthError } from '../errors/auth-error.js'
import { partOf } from '../errors/refusal.js'
import type { Emit } from '../events/emitter.js'
import { reportRefusal } from '../events/report-refusal.js'
import { addressOf } from '../http/origin.js'
import { parserRefusal } from '../http/parser-refusal.js'
import { type Refuse, sendRefusal } from '../http/refuse.js'
import { hasToClose } from '../http/send-response.js'

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
    const refusal = reportRefusal(emit, { address: addressOf(req) }, partOf(error), error)
    sendRefusal(refuse, refusal, req, res, next, hasToClose(req))
  }
}
