import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createTokenIssuer, createTokenVerifier, requireBearer } from 'express-token-endpoint'
import { bearer, createClient } from '../support/plain-js/http-client.mjs'
import { withOtherSignature } from '../support/plain-js/token-forger.mjs'
import { bearerGuard, peerGuards } from './peers/guards.mjs'

/** Names of guards in tables. */
export const NONE = 'no guard'
export const OURS = 'requireBearer'
export const FLOOR = 'a look-up in a map'

const ISSUER = 'https://api.example.com'
const DAY = 86_400_000
const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
}

function keysOf(alg) {
  if (alg === 'HS256') {
    const secret = randomBytes(32).toString('hex')
    const both = { alg, secret }
    return { text: secret, key: createSecretKey(Buffer.from(secret)), signing: both, verifying: both }
  }
  const { publicKey, privateKey } = PAIRS[alg]()
  const text = publicKey.export({ type: 'spki', format: 'pem' })
  return { text, key: publicKey, signing: { alg, privateKey }, verifying: { alg, publicKey } }
}

/**
 * Creates a key, its tokens, and the guards that accept them.
 * @param options `claims` are more claims of each token
 * @returns `tokens`, a function for new tokens, `guards` by name, and `samples`: a valid, a forged and an expired token
 */
export async function createEnvironment(alg, { claims = {}, count = 1 } = {}) {
  const { signing, verifying, text, key } = keysOf(alg)
  const tokens = createTokenIssuer({ issuer: ISSUER, keys: signing })
  const issue = async (issuedAt = new Date()) =>
    (await tokens.issue({ accountId: 'acc-1', scopes: ['reports:read'], claims, issuedAt })).token
  const valid = []
  while (valid.length < count) valid.push(await issue())
  const known = new Map(valid.map((token) => [token, { token }]))
  const find = (token) => {
    if (!known.has(token)) throw new Error('unknown')
    return known.get(token)
  }
  return {
    tokens: valid,
    samples: { good: valid[0], forged: withOtherSignature(valid[0]), expired: await issue(new Date(Date.now() - DAY)) },
    guards: {
      [FLOOR]: bearerGuard(find),
      [OURS]: requireBearer({ tokens: createTokenVerifier({ issuer: ISSUER, keys: verifying }) }),
      ...peerGuards({ alg, issuer: tokens.issuer, audience: tokens.audience, key, text }),
    },
  }
}

/**
 * Checks a guard before it is measured, because a guard that accepts everything is fast and useless.
 * @param accepts token → whether the guard lets it through
 * @throws Error with the guard's name, never with a token
 */
export async function checkGuard(name, accepts, { good, forged, expired }) {
  // The second time uses the cache, which must refuse the invalid tokens and accept the valid token.
  for (const time of ['', ' that it has seen']) {
    if (!(await accepts(good))) throw new Error(`${name}: refuses a good token${time}`)
    if (await accepts(forged)) throw new Error(`${name}: accepts a bad signature${time}`)
    if (await accepts(expired)) throw new Error(`${name}: accepts an expired token${time}`)
  }
}

/** Checks the guard of a route over HTTP. */
export async function checkRoute(name, port, path, samples) {
  const { send, close } = createClient(port, { connections: 1 })
  await checkGuard(name, async (token) => (await send(bearer(token, path))).status === 200, samples)
  close()
}
