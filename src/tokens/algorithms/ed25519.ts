import type { KeyObject } from 'node:crypto'
import { keyPair, type PairAlgorithmRow, type PairRows } from './algorithm.js'
import { newKeyPair } from './new-key-pair.js'

/**
 * The encodings of points of small order, without their sign. See https://eprint.iacr.org/2020/1244 for the list.
 *
 * OpenSSL accepts these keys. One signature that anyone can write is then valid for many messages, or for all.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

function isSmallOrder(key: KeyObject): boolean {
  const point = Buffer.from(key.export({ format: 'jwk' }).x as string, 'base64url')
  point.writeUInt8(point.readUInt8(31) & 0x7f, 31)
  return SMALL_ORDER.has(point.toString('hex'))
}

/** EdDSA on Curve25519 under its own name (RFC 9864 section 2.2). The older name `EdDSA` is another name of it in headers and JWKs. */
const Ed25519: PairAlgorithmRow = {
  kind: 'pair',
  isInJsonwebtoken: false,
  needs: 'an Ed25519 key whose point is not of small order',
  fits: (key) => key.asymmetricKeyType === 'ed25519' && !isSmallOrder(key),
  jwkMembers: ['crv', 'kty', 'x'],
  isOnlyOneOfKey: true,
  generate: () => newKeyPair('ed25519'),
  hasBits: false,
  ...keyPair(null),
}

export const EDDSA = { Ed25519 } satisfies PairRows
