import { createTokenVerifier, requireBearer } from 'express-token-endpoint'
import { bearer } from './peers/bearer.mjs'
import { expressJwt } from './peers/express-jwt.mjs'
import { expressOauth2JwtBearer } from './peers/express-oauth2-jwt-bearer.mjs'
import { fastJwt } from './peers/fast-jwt.mjs'
import { jsonwebtoken } from './peers/jsonwebtoken.mjs'
import { passportJwt } from './peers/passport-jwt.mjs'

export const BARE = 'no guard'
export const OURS = 'requireBearer'
export const FLOOR = 'a look-up in a map'
export const FAST_JWT = 'fast-jwt, cache'
export const FAST_JWT_KEYED = 'fast-jwt, cache keyed on the token'
export const EXPRESS_JWT = 'express-jwt, KeyObject'
export const EXPRESS_JWT_DOCUMENTED = 'express-jwt, as documented'

/** This package's guard, as its README shows it. */
export const ours = ({ issuer, verifying }) => ({
  name: OURS,
  guard: requireBearer({ tokens: createTokenVerifier({ issuer, keys: verifying }) }),
})

/** No guard: knows its tokens beforehand, and checks nothing. What any guard with a memory must at least do. */
export const floor = (tokens) => {
  const known = new Map(tokens.map((token) => [token, { token }]))
  const find = (token) => {
    const found = known.get(token)
    if (!found) throw new Error('unknown')
    return found
  }
  return { name: FLOOR, guard: bearer(find) }
}

/** Every peer, at its best as well as as documented. All at their best check issuer and audience, as this package does. */
export const peers = (environment) =>
  [fastJwt, jsonwebtoken, expressJwt, expressOauth2JwtBearer, passportJwt].flatMap((peer) => peer(environment))

/** Nothing, next to nothing, this package's guard and every peer. */
export const allGuards = (environment, tokens) => [
  { name: BARE },
  floor(tokens),
  ours(environment),
  ...peers(environment),
]

export const named = (name, guards) => {
  const found = guards.find((guard) => guard.name === name)
  if (!found) throw new Error(`no guard is called ${name}`)
  return found
}
