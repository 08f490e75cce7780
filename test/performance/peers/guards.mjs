import { expressjwt } from 'express-jwt'
import { auth } from 'express-oauth2-jwt-bearer'
import { createVerifier } from 'fast-jwt'
import jwt from 'jsonwebtoken'
import passport from 'passport'
import { ExtractJwt, Strategy } from 'passport-jwt'

const REFUSED = new Error('refused')

/**
 * The least middleware for a function that verifies: what its user would write by hand.
 * @param verify token → claims, or throws
 */
export const bearerGuard = (verify) =>
  function bearerMiddleware(req, _res, next) {
    const header = req.headers.authorization
    if (!header?.startsWith('Bearer ')) return next(REFUSED)
    try {
      req.auth = verify(header.slice(7))
    } catch (error) {
      return next(error)
    }
    next()
  }

function passportGuard(options) {
  const jwtFromRequest = ExtractJwt.fromAuthHeaderAsBearerToken()
  const strategy = new Strategy({ jwtFromRequest, ...options }, (payload, done) => done(null, { id: payload.sub }))
  return new passport.Passport().use(strategy).authenticate('jwt', { session: false })
}

/** Returns whether a guard has its fastest settings. */
export const isFastest = (name) => !name.endsWith('as documented')

/**
 * Creates the guards of other packages, each with its fastest settings, and as its README documents it. The fastest settings check issuer
 * and audience, as this package does. `text` is the secret or the public key as in a configuration file. `key` is the same as a KeyObject.
 */
export function peerGuards({ alg, issuer, audience, key, text }) {
  const algorithms = [alg]
  const keys = alg === 'HS256' ? { secret: text } : { publicKey: text }
  const documented = { issuer, audience, tokenSigningAlg: alg, ...keys }
  return {
    'fast-jwt, cache': bearerGuard(
      createVerifier({ key: text, algorithms, allowedIss: issuer, allowedAud: audience, cache: true }),
    ),
    'jsonwebtoken, KeyObject': bearerGuard((token) => jwt.verify(token, key, { algorithms, issuer, audience })),
    'express-jwt, KeyObject': expressjwt({ secret: key, algorithms, issuer, audience }),
    'express-jwt, as documented': expressjwt({ secret: text, algorithms }),
    'express-oauth2-jwt-bearer, without DPoP': auth({ ...documented, dpop: { enabled: false } }),
    'express-oauth2-jwt-bearer, as documented': auth(documented),
    'passport-jwt, KeyObject': passportGuard({ secretOrKey: key, algorithms, issuer, audience }),
    'passport-jwt, as documented': passportGuard({ secretOrKey: text, issuer, audience }),
  }
}
