// The keys of the differential tests, which protect nothing. They stay the same, so that a saved PEM or JWK set stays an input.
import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

export const ISSUER = 'https://api.example.com'
export const KID = 'k1'
/** The moment of all inputs, in seconds. */
export const NOW = 1_767_225_600
export const SECRET = 'secret s'.repeat(8)

/** Returns a key with its public half as KeyObject, PEM and JWK. */
function pairOf(pem) {
  const privateKey = createPrivateKey(pem)
  const publicKey = createPublicKey(privateKey)
  return { privateKey, publicKey, pem, publicPem: publicKey.export({ type: 'spki', format: 'pem' }) }
}

const pems = JSON.parse(readFileSync(new URL('./keys.json', import.meta.url), 'utf8'))
export const PAIRS = Object.fromEntries(Object.entries(pems).map(([name, pem]) => [name, pairOf(pem)]))

const secret = createSecretKey(Buffer.from(SECRET))

/** The key of each algorithm: what signs, and what verifies. */
export const BY_ALG = {
  HS256: { sign: secret, verify: secret },
  RS256: { sign: PAIRS.RS256.privateKey, verify: PAIRS.RS256.publicKey },
  PS256: { sign: PAIRS.RS256.privateKey, verify: PAIRS.RS256.publicKey },
  ES256: { sign: PAIRS.ES256.privateKey, verify: PAIRS.ES256.publicKey },
  ES384: { sign: PAIRS.ES384.privateKey, verify: PAIRS.ES384.publicKey },
  ES512: { sign: PAIRS.ES512.privateKey, verify: PAIRS.ES512.publicKey },
}

/** Returns the JWK of a public key, with more members. */
export const jwkOf = (key, more) => ({ ...key.export({ format: 'jwk' }), ...more })
