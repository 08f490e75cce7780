import { constants, type KeyObject } from 'node:crypto'
import { keyPair, keyPairWith, type PairAlgorithmRow, type PairRows } from './algorithm.js'
import { newKeyPair } from './new-key-pair.js'

const MIN_BITS = 2048
const MAX_BITS = 16_384

/** Returns whether an RSA key is strong (NIST SP 800-56B). With exponent 1, anyone could sign. A huge modulus is slow to verify. */
function isStrong({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
  const soundExponent = publicExponent >= 65_537n && publicExponent % 2n === 1n
  return asymmetricKeyType === 'rsa' && modulusLength >= MIN_BITS && modulusLength <= MAX_BITS && soundExponent
}

function rsa(digest: string, scheme: (digest: string) => ReturnType<typeof keyPair>): PairAlgorithmRow {
  return {
    kind: 'pair',
    isInJsonwebtoken: true,
    needs: `an RSA key of at least ${MIN_BITS} bits`,
    fits: isStrong,
    jwkMembers: ['e', 'kty', 'n'],
    isOnlyOneOfKey: false,
    generate: (modulusLength) => newKeyPair('rsa', { modulusLength }),
    hasBits: true,
    ...scheme(digest),
  }
}

/** The salt is as long as the hash (RFC 7518 section 3.5). */
const PSS_OPTIONS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
const pss = (digest: string) => keyPairWith(digest, PSS_OPTIONS)

/** RSASSA-PKCS1-v1_5 and RSASSA-PSS (RFC 7518 sections 3.3 and 3.5). */
export const RSA = {
  RS256: rsa('sha256', keyPair),
  RS384: rsa('sha384', keyPair),
  RS512: rsa('sha512', keyPair),
  PS256: rsa('sha256', pss),
  PS384: rsa('sha384', pss),
  PS512: rsa('sha512', pss),
} satisfies PairRows
