/** HMAC with SHA-2 (RFC 7518 section 3.2): the same secret signs and verifies. */
export type SecretAlgorithm = 'HS256' | 'HS384' | 'HS512'
/** RSASSA-PKCS1-v1_5, RSASSA-PSS and ECDSA (RFC 7518 sections 3.3 to 3.5): a private key signs, its public key verifies. */
export type KeyPairAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512'
/** The supported algorithms. The key determines the algorithm of its tokens, not the token's header (RFC 8725 section 3.1). */
export type Algorithm = SecretAlgorithm | KeyPairAlgorithm

/** The kind of key that an algorithm requires. */
export type KeyKind = { kind: 'secret'; minBytes: number } | { kind: 'rsa' } | { kind: 'ec'; curve: string }

/** The algorithms, each with its kind of key. */
export const ALGORITHMS: Readonly<Record<Algorithm, KeyKind>> = {
  HS256: { kind: 'secret', minBytes: 32 },
  HS384: { kind: 'secret', minBytes: 48 },
  HS512: { kind: 'secret', minBytes: 64 },
  RS256: { kind: 'rsa' },
  RS384: { kind: 'rsa' },
  RS512: { kind: 'rsa' },
  PS256: { kind: 'rsa' },
  PS384: { kind: 'rsa' },
  PS512: { kind: 'rsa' },
  ES256: { kind: 'ec', curve: 'prime256v1' },
  ES384: { kind: 'ec', curve: 'secp384r1' },
  ES512: { kind: 'ec', curve: 'secp521r1' },
}

/** Returns whether a value names an algorithm of key pairs. */
export function isKeyPairAlgorithm(alg: unknown): alg is KeyPairAlgorithm {
  return typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg) && ALGORITHMS[alg as Algorithm].kind !== 'secret'
}

/** The algorithms of key pairs. */
export const KEY_PAIR_ALGORITHMS: readonly KeyPairAlgorithm[] = Object.keys(ALGORITHMS).filter(isKeyPairAlgorithm)
