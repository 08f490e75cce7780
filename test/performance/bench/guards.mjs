import { createTokenVerifier, requireBearer } from 'express-token-endpoint'
import { FLOOR, OURS } from './names.mjs'
import { bearer } from './peers/bearer.mjs'
import { expressJwt } from './peers/express-jwt.mjs'
import { expressOauth2JwtBearer } from './peers/express-oauth2-jwt-bearer.mjs'
import { fastJwt } from './peers/fast-jwt.mjs'
import { jsonwebtoken } from './peers/jsonwebtoken.mjs'
import { passportJwt } from './peers/passport-jwt.mjs'

/** This package's guard as in its README, or with other options of its verifier. */
export const ours = ({ issuer, verifying }, options) => ({
  name: OURS,
  guard: requireBearer({ tokens: createTokenVerifier({ issuer, keys: verifying, ...options }) }),
})

/** The minimum of a guard with a cache. It knows its tokens beforehand and checks nothing. */
export const floor = (tokens) => {
  const known = new Map(tokens.map((token) => [token, { token }]))
  const find = (token) => {
    const found = known.get(token)
    if (!found) throw new Error('unknown')
    return found
  }
  return { name: FLOOR, guard: bearer(find) }
}

/** Each peer with its fastest settings, and as documented. The fastest settings check issuer and audience, as this package does. */
export const peers = (environment) =>
  [fastJwt, jsonwebtoken, expressJwt, expressOauth2JwtBearer, passportJwt].flatMap((peer) => peer(environment))

/** The minimum, this package's guard and each peer. */
export const allGuards = (environment, tokens) => [floor(tokens), ours(environment), ...peers(environment)]

export const named = (name, guards) => {
  const found = guards.find((guard) => guard.name === name)
  if (!found) throw new Error(`no guard is called ${name}`)
  return found
}
