import type { ErrorRequestHandler } from 'express'
import { isAuthError } from '../errors/auth-error.js'
import { safeHeaders } from '../errors/headers.js'
import { partOf } from '../errors/refusal.js'
import { emitter } from '../events/emitter.js'
import type { AuthObserver } from '../events/events.js'
import { reportRefusal } from '../events/report-refusal.js'
import { type HostOptions, hostSchema } from '../http/host-options.js'
import { addressOf } from '../http/origin.js'
import { parserRefusal } from '../http/parser-refusal.js'
import { sendRefusal } from '../http/refuse.js'
import { hasToClose } from '../http/send-response.js'
import { text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { optional, readOptions } from '../options/read-options.js'

/** The options of `authErrors`. */
export interface AuthErrorsOptions {
  /** The `realm` of challenges (RFC 9110 section 11.5), usually the issuer. Default: that of the guard that refused, or an empty realm. */
  realm?: string | undefined
  /**
   * Called with each refusal, except those that a login, a router or a guard has reported to the same function. Default: the
   * error handler emits a process warning for the first failure of each dependency.
   */
  onEvent?: AuthObserver | undefined
  /** The option `refuse` of `tokenRouter` and `requireBearer`. Default: problem details. */
  refuse?: HostOptions['refuse']
}

const schema = {
  realm: optional(text('a non-empty string'), ''),
  onEvent: hostSchema.onEvent,
  refuse: hostSchema.refuse,
}

/**
 * Creates an Express error handler that sends an `AuthError` or a `SignInRefusal` as the routers and the guard do: its status, its headers
 * and problem details (RFC 9457). Use it after custom routes that call `logIn`, `issue`, `verify` or `authenticate`.
 * An error of Express's body parsers, which may hold a password, becomes `invalid_body`, `body_too_large`,
 * `unsupported_media_type` or `client_closed_request`. Passes every other error on.
 * @throws TypeError naming the option that is not valid
 */
export function authErrors(options?: AuthErrorsOptions): ErrorRequestHandler
// Four parameters, so that Express calls it with an error when its brackets are missing.
export function authErrors(options?: AuthErrorsOptions, req?: unknown, _res?: unknown, _next?: unknown) {
  if (req !== undefined)
    throw misuse('authErrors: expected an options object, got an error of a request. Pass Express authErrors()')
  const { realm, onEvent, refuse } = readOptions<AuthErrorsOptions, typeof schema>('authErrors', options, schema)
  const emit = emitter(onEvent)
  const sendAuthError: ErrorRequestHandler = (thrown, req, res, next) => {
    const error = isAuthError(thrown) ? thrown : parserRefusal(thrown)
    if (!error || res.headersSent) {
      next(error ?? thrown)
      return
    }
    const part = partOf(error)
    // A guard knows its realm better.
    const isOfGuard = safeHeaders(error)['WWW-Authenticate']?.includes('realm=""') === false
    const facts = isOfGuard ? undefined : { realm }
    const refusal = reportRefusal(emit, { address: addressOf(req) }, part, error, facts)
    sendRefusal(refuse, refusal, req, res, next, hasToClose(req))
  }
  return sendAuthError
}
