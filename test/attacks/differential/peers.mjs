// The peers that verify a token, each with the same rules and at the same moment, and the server that a subject needs.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createTokenVerifier } from 'express-token-endpoint'
import { createVerifier } from 'fast-jwt'
import { jwtVerify } from 'jose'
import jwt from 'jsonwebtoken'
import * as oauth from 'oauth4webapi'
import { verdictOf } from './compare.mjs'
import { ISSUER, NOW } from './keys.mjs'

const rulesOf = (alg) => ({ algorithms: [alg], issuer: ISSUER, audience: ISSUER })

/** Returns a verifier of this package. */
export const ours = (keys, more) => createTokenVerifier({ issuer: ISSUER, keys, clock: () => NOW * 1000, ...more })

export const jsonwebtoken = (alg, key) => async (token) =>
  jwt.verify(token, key, { ...rulesOf(alg), clockTimestamp: NOW })

export const jose = (alg, key, more) => async (token) =>
  (await jwtVerify(token, key, { ...rulesOf(alg), currentDate: new Date(NOW * 1000), ...more })).payload

export const fastJwt = (alg, key, more) =>
  createVerifier({
    key,
    algorithms: [alg],
    allowedIss: ISSUER,
    allowedAud: ISSUER,
    clockTimestamp: NOW * 1000,
    ...more,
  })

/**
 * Asks oauth4webapi with the text of a JWK set. Its clock skew is the time since our moment. It reads the clock again, so a new second
 * repeats it.
 */
export async function oauth4webapi(alg, keySet, headers) {
  const server = { issuer: ISSUER, jwks_uri: `${ISSUER}/jwks` }
  const request = new Request(`${ISSUER}/`, { headers })
  for (;;) {
    const second = Math.floor(Date.now() / 1000)
    const options = {
      [oauth.clockSkew]: NOW - second,
      [oauth.clockTolerance]: 0,
      [oauth.customFetch]: async () => new Response(keySet, { headers: { 'Content-Type': 'application/json' } }),
      signingAlgorithms: [alg],
    }
    const verdict = await verdictOf(() => oauth.validateJwtAccessToken(server, request, ISSUER, options))
    if (Math.floor(Date.now() / 1000) !== second) continue
    if (verdict.error) throw verdict.error
    return verdict.accepted
  }
}

/** Starts a server on loopback, for which the process does not wait. Returns its port. */
export async function startServer(listener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  server.unref()
  // A slow machine must not close a connection that the next case uses.
  server.keepAliveTimeout = 0
  await once(server, 'listening')
  return server.address().port
}
