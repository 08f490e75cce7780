// Tests tokens/algorithms/{algorithm,ecdsa,ed25519,hmac,rsa}.ts

import { createPublicKey } from 'node:crypto'
import {
  createTokenIssuer,
  createTokenVerifier,
  type PrivateTokenKey,
  type PublicTokenKey,
  type SecretTokenKey,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import {
  algorithmHint,
  isKeyPairAlgorithm,
  PAIRS,
  ALGORITHMS as ROWS,
} from '../../../../src/tokens/algorithms/algorithms.js'
import { expectInvalidToken } from '../../../support/failures.js'
import { ALGORITHMS, ISSUER, issueNow, signingKey } from '../../../support/fixtures.js'
import { headerOf, partsOf, someToken } from '../../../support/tokens.js'

/** Returns the public keys for a verifier: the issuer's JWK set. */
function verifierKeys(key: SecretTokenKey | PrivateTokenKey) {
  if (key.secret !== undefined) return key
  const { keys } = createTokenIssuer({ issuer: ISSUER, keys: key }).jwks()
  return keys.map((publicKey): PublicTokenKey => ({ alg: publicKey.alg as PublicTokenKey['alg'], publicKey }))
}

describe.each(ALGORITHMS)('%s', (alg) => {
  const keys = signingKey(alg)
  const issuer = createTokenIssuer({ issuer: ISSUER, keys })
  const verifier = createTokenVerifier({ issuer: ISSUER, keys: verifierKeys(keys) })

  it('signs what its issuer and a verifier without the signing key both verify', async () => {
    const { token, id } = issueNow(issuer, { accountId: 'acc-1' })
    expect(headerOf(token)['alg']).toBe(alg)
    expect(await issuer.verify(token)).toMatchObject({ id, accountId: 'acc-1' })
    expect(await verifier.verify(token)).toMatchObject({ id, accountId: 'acc-1' })
  })

  it('refuses the signature of another key under the same kid', async () => {
    const { kid } = headerOf(someToken(issuer)) as { kid: string }
    const other = createTokenIssuer({ issuer: ISSUER, keys: { ...signingKey(alg, 'two'), kid } })
    await expectInvalidToken(verifier.verify(someToken(other)), 'signature')
  })

  it('refuses the signature of another token', async () => {
    const { header, payload } = partsOf(someToken(issuer))
    const { signature } = partsOf(someToken(issuer))
    await expectInvalidToken(verifier.verify(`${header}.${payload}.${signature}`), 'signature')
  })

  it('refuses a signature of the wrong length', async () => {
    const { header, payload } = partsOf(someToken(issuer))
    for (const signature of ['AA', 'A'.repeat(100), 'A'.repeat(1000)]) {
      await expectInvalidToken(verifier.verify(`${header}.${payload}.${signature}`), 'signature')
    }
  })
})

it.each([
  [
    'a zero byte',
    'short 3250',
    'ABBjrXX2ppPBuf7TmqqnsAcMA6o0Lczhc6tl5Ew4megKh5ZNfrwdZ4NYjdjaoPRX5DkLy3eJlyYFAwfRpmylWQ',
  ],
  [
    'a zero byte before a set bit',
    'short 224',
    'Fazz8bugEFtqBQ2-qAiH__KZ4aDDavQd3ycgI4mUN-kA6vuuNbtNR_L4ZkOTjEYKM2JfCrosHkHqppkrRKD_0A',
  ],
])(
  'verifies a signature with a number that begins with %s, and none with one byte more or less',
  (_what, text, made) => {
    const [x, y] = ['1c3JV9wORs7IpnrZdL6fgsxAGJStDI_-gw0kbwPbumw', 'D6TrA8YFE-yAc9vD2Sd2X6Hl2-5hnuQanbeiOlFMnog']
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
    const signature = Buffer.from(made, 'base64url')
    const others = [signature.subarray(1), signature.subarray(0, -1), Buffer.concat([signature, Buffer.of(0)])]
    expect([signature, ...others].map((one) => PAIRS.ES256.verify(text, one, key))).toEqual([true, false, false, false])
  },
)

describe('a signature of a key service', () => {
  const number = (...bytes: number[]) => [2, bytes.length, ...bytes]
  const der = (...content: number[][]) => [0x30, content.flat().length, ...content.flat()]
  const filled = (length: number, byte: number) => new Array<number>(length).fill(byte)
  const padded = (length: number, ...numbers: number[][]) =>
    numbers.flatMap((bytes) => [...filled(length - bytes.length, 0), ...bytes])
  const normalized = (alg: 'ES256' | 'ES512', bytes: readonly number[]) => [
    ...(PAIRS[alg].normalize?.(Buffer.from(bytes)) ?? expect.fail('no ECDSA')),
  ]

  it.each([
    ['with short numbers', 'ES256', der(number(7), number(8, 9)), padded(32, [7], [8, 9])],
    ['with a first bit that is set', 'ES256', der(number(0, 200), number(0, 201)), padded(32, [200], [201])],
    [
      'as long as both numbers of a token',
      'ES256',
      der(number(...filled(29, 7)), number(...filled(29, 8))),
      padded(32, filled(29, 7), filled(29, 8)),
    ],
    [
      'whose length has two bytes',
      'ES512',
      [0x30, 0x81, ...der(number(...filled(66, 1)), number(...filled(66, 2))).slice(1)],
      padded(66, filled(66, 1), filled(66, 2)),
    ],
  ] as const)('in DER becomes that of a token: %s', (_what, alg, given, expected) => {
    expect(normalized(alg, given)).toEqual(expected)
  })

  it.each([
    ['of another structure', [0x31, ...der(number(7), number(8)).slice(1)]],
    ['with another length', [0x30, 7, ...number(7), ...number(8)]],
    ['of another type than a number', der([3, 1, 7], number(8))],
    ['without digits', der(number(), number(8))],
    ['with too many digits', der(number(7), number(...filled(33, 8)))],
    ['that is cut', der(number(7), [2, 2, 8])],
    ['with one number', der(number(7))],
    ['with more than two numbers', der(number(7), number(8), number(9))],
    ['with a byte behind', [...der(number(7), number(8)), 0]],
    ['in the form of a token', padded(32, filled(32, 7), filled(32, 8))],
    ['that is empty', []],
  ])('stays as it is: %s', (_what, given) => {
    expect(normalized('ES256', given)).toEqual(given)
  })
})

it.each([...ALGORITHMS, 'constructor', 'hs256', undefined])(
  '%s is of key pairs, except HMAC and unknown names',
  (alg) => {
    expect(isKeyPairAlgorithm(alg)).toBe(/^([RPE]S|Ed)/.test(String(alg)))
  },
)

it('the old name EdDSA has a hint, and no other name has one', () => {
  expect(['EdDSA', 'Ed25519', 'none', undefined].map(algorithmHint)).toEqual([
    'Did you mean "Ed25519" (RFC 9864)?',
    '',
    '',
    '',
  ])
})

it.each(ALGORITHMS)('%s has a secret only in HMAC, and keys of several sizes only in RSA', (alg) => {
  const pair = { kind: 'pair', needs: expect.stringMatching(/^an (EC|Ed25519|RSA) key /), hasBits: /^[RP]S/.test(alg) }
  expect(ROWS[alg]).toMatchObject(alg.startsWith('HS') ? { kind: 'secret' } : pair)
})
