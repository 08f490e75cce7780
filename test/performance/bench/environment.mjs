import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createTokenIssuer } from 'express-token-endpoint'

const ISSUER = 'https://api.example.com'
const HOUR = 3_600_000

const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
}

function keysOf(alg) {
  if (alg === 'HS256') {
    const secret = randomBytes(32).toString('hex')
    const key = createSecretKey(Buffer.from(secret))
    return { text: secret, key, signing: { alg, secret }, verifying: { alg, secret } }
  }
  const { publicKey, privateKey } = PAIRS[alg]()
  const pem = publicKey.export({ type: 'spki', format: 'pem' })
  return { text: pem, key: publicKey, signing: { alg, privateKey }, verifying: { alg, publicKey } }
}

/**
 * Creates an environment with its own key, and its tokens, for this package and for its peers. `text` is the secret or the public
 * key as in a configuration file. `key` is the same as a KeyObject.
 */
export function createEnvironment(alg, claims = {}) {
  const { signing, ...keys } = keysOf(alg)
  const issuer = createTokenIssuer({ issuer: ISSUER, keys: signing })
  const issue = (issuedAt) => issuer.issue({ accountId: 'acc-1', scopes: ['reports:read'], claims, issuedAt }).token
  return {
    ...keys,
    alg,
    issuer: issuer.issuer,
    audience: issuer.audience,
    tokens: (count) => Array.from({ length: count }, () => issue(new Date())),
    /** Returns the tokens that a guard is checked with: a valid one of this environment, a forged and an expired one. */
    samples: (good) => ({
      good,
      forged: withOtherSignature(issue(new Date())),
      expired: issue(new Date(Date.now() - 24 * HOUR)),
    }),
  }
}

/** Changes the first character, because the last character of a signature can contain unused bits. */
function withOtherSignature(token) {
  const at = token.lastIndexOf('.') + 1
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
}
