import { type KeyObject, randomBytes } from 'node:crypto'
import { type KeyPairAlgorithm, PAIRS, type SecretAlgorithm } from '../../tokens/algorithms/algorithms.js'
import { HMAC } from '../../tokens/algorithms/hmac.js'
import { readKeys } from '../../tokens/keys/key-ring.js'

/** Sizes of RSA keys. 3072 bits have a strength of 128 (NIST SP 800-57 part 1, table 2); 2048 bits have 112, allowed until 2030. */
export const RSA_BITS = { least: 2048, usual: 3072, most: 16_384 }

/** A key as text, for `createTokenIssuer` and for verifiers. */
export interface KeyText {
  kid: string
  /** The secret, or the private key. */
  secret: string
  /** The public key. Undefined for a secret. */
  public: string | undefined
}

type PairFormat = 'pem' | 'jwk'

/**
 * Creates a secret: base64url of as many random bytes as its hash has (RFC 7518 section 3.2). Adds no line end, because the line
 * end would be part of the secret.
 */
export function newSecret(alg: SecretAlgorithm): KeyText {
  const secret = randomBytes(HMAC[alg].minBytes).toString('base64url')
  return { kid: readKeys('keygen', { alg, secret }).first.kid, secret, public: undefined }
}

export function newPair(alg: KeyPairAlgorithm, format: PairFormat, rsaBits = RSA_BITS.usual): KeyText {
  const { privateKey, publicKey } = PAIRS[alg].generate(rsaBits)
  const { kid } = readKeys('keygen', { alg, privateKey }).first
  const write = FORMATS[format]
  return {
    kid,
    secret: write(privateKey, { kid, alg, use: 'sig' }),
    public: write(publicKey, { kid, alg, use: 'sig' }),
  }
}

const FORMATS: Readonly<Record<PairFormat, (key: KeyObject, about: object) => string>> = {
  pem: (key) => key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' } as never).toString(),
  jwk: (key, about) => `${JSON.stringify({ ...key.export({ format: 'jwk' }), ...about }, null, 2)}\n`,
}
