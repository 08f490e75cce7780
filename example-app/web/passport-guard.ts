import type { RequestHandler } from 'express'
import { AuthError, type AuthErrorCode } from 'express-token-endpoint'
import { BearerStrategy, type BearerStrategyOptions } from 'express-token-endpoint/passport'
import passport from 'passport'
import { sendRefusal } from './problem.js'

/**
 * Creates a guard with Passport. It sends the refusals itself, because Passport sends plain text, and sends the challenge only with 401
 * (RFC 6750 section 3 also requires it with 403).
 */
export function passportGuard(options: BearerStrategyOptions & { scope: string }): RequestHandler {
  const authenticator = new passport.Passport().use(new BearerStrategy(options))
  return (req, res, next) => {
    const end = (error: unknown, user: unknown, challenge: unknown) => {
      if (error || user) return next(error)
      const code = /error="(\w+)"/.exec(String(challenge))?.[1] ?? 'missing_token'
      sendRefusal(res, new AuthError(code as AuthErrorCode), { 'WWW-Authenticate': String(challenge) })
    }
    authenticator.authenticate('bearer', { session: false }, end)(req, res, next)
  }
}
