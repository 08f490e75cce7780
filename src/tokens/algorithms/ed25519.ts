import { keyPair, type PairAlgorithmRow } from './algorithm.js'
import { newKeyPair } from './new-key-pair.js'

const ed25519: PairAlgorithmRow = {
  kind: 'pair',
  needs: 'an Ed25519 key',
  fits: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
  isOnlyOneOfKey: true,
  generate: () => newKeyPair('ed25519'),
  hasBits: false,
  ...keyPair(null, {}),
}

/** EdDSA on Curve25519 under its own name (RFC 9864 section 2.2). The older name `EdDSA` does not determine a curve. */
export const EDDSA = { Ed25519: ed25519 }
