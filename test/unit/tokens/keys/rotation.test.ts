import {
  createTokenIssuer,
  createTokenVerifier,
  type KeyPairAlgorithm,
  type PrivateTokenKey,
  type TokenIssuerOptions,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectInvalidToken, expectMisuse } from '../../../support/failures.js'
import { ALGORITHMS, ISSUER, SECRET, signingKey } from '../../../support/fixtures.js'
import { pairOf } from '../../../support/keys.js'
import { headerOf, someToken } from '../../../support/tokens.js'

const issuerOf = (keys: TokenIssuerOptions['keys']) => createTokenIssuer({ issuer: ISSUER, keys })

describe('several keys', () => {
  const secrets = ['one', 'two', 'three'].map((kid) => ({ alg: 'HS256' as const, secret: `${kid} ${SECRET}`, kid }))

  it('the first signs', () => {
    expect(headerOf(someToken(issuerOf(secrets)))['kid']).toBe('one')
    expect(headerOf(someToken(issuerOf(secrets.toReversed())))['kid']).toBe('three')
  })

  it('all verify, in a verifier too', async () => {
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: secrets })
    for (const secret of secrets) {
      const token = someToken(issuerOf(secret))
      expect(await issuerOf(secrets).verify(token)).toMatchObject({ accountId: 'acc-1' })
      expect(await verifier.verify(token)).toMatchObject({ accountId: 'acc-1' })
    }
  })

  it('each verifies only what names it', async () => {
    const [one, two] = secrets as [(typeof secrets)[0], (typeof secrets)[0]]
    const token = someToken(issuerOf({ ...one, kid: 'two' }))
    await expectInvalidToken(issuerOf([one, two]).verify(token), 'signature')
  })

  it('may be of several algorithms', async () => {
    const pairs = ALGORITHMS.filter((alg): alg is KeyPairAlgorithm => !alg.startsWith('HS'))
    const keys = pairs.map((alg) => ({ ...signingKey(alg, alg), kid: alg }))
    const issuer = issuerOf(keys)
    for (const key of keys) {
      expect(await issuer.verify(someToken(issuerOf(key)))).toMatchObject({ accountId: 'acc-1' })
    }
  })

  it('cannot be added later by changing the list', async () => {
    const list = secrets.slice(0, 1)
    const issuer = issuerOf(list)
    list.push(...secrets.slice(1))
    await expectInvalidToken(issuer.verify(someToken(issuerOf(secrets.slice(1)))), 'unknown_key')
  })
})

describe('rotation', () => {
  const oldKey = signingKey('RS256', 'old')
  const newKey = signingKey('ES256', 'new')
  const retired = { alg: 'RS256', publicKey: pairOf('RS256', 'old').publicKey } as const

  it('the old key goes on verifying as a public key alone, and signs no more', async () => {
    const rotated = issuerOf([newKey, retired])
    expect(await rotated.verify(someToken(issuerOf(oldKey)))).toMatchObject({ accountId: 'acc-1' })
    expect(headerOf(someToken(rotated))['alg']).toBe('ES256')
    expect(rotated.jwks().keys.map(({ alg }) => alg)).toEqual(['ES256', 'RS256'])
  })

  it('a key that was taken out verifies no more', async () => {
    await expectInvalidToken(issuerOf(newKey).verify(someToken(issuerOf(oldKey))), 'unknown_key')
  })
})

describe('jwks', () => {
  const PUBLIC_MEMBERS = new Set(['alg', 'crv', 'e', 'kid', 'kty', 'n', 'use', 'x', 'y'])

  it.each(ALGORITHMS.filter((alg) => !alg.startsWith('HS')))('shows the public half of a %s key', (alg) => {
    const [jwk, ...others] = issuerOf({ ...signingKey(alg), kid: 'k1' }).jwks().keys
    expect(others).toEqual([])
    expect(jwk).toEqual({ ...pairOf(alg).publicKey.export({ format: 'jwk' }), alg, kid: 'k1', use: 'sig' })
    expect(Object.keys(jwk ?? {}).filter((name) => !PUBLIC_MEMBERS.has(name))).toEqual([])
  })

  it('shows nothing private of a JWK that came with more', () => {
    const privateKey = { ...pairOf('RS256').privateKey.export({ format: 'jwk' }), note: 'secret' }
    const [jwk] = issuerOf({ alg: 'RS256', privateKey }).jwks().keys
    expect(Object.keys(jwk ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
  })

  it.each(['HS256', 'HS384', 'HS512'] as const)('shows nothing of a %s secret', (alg) => {
    expect(issuerOf([signingKey(alg), signingKey(alg, 'two')]).jwks()).toEqual({ keys: [] })
  })

  it('is made anew for each caller', () => {
    const issuer = issuerOf(signingKey('ES256'))
    const before = issuer.jwks()
    issuer.jwks().keys.length = 0
    Object.assign(issuer.jwks().keys[0] as object, { d: 'evil' })
    expect(issuer.jwks()).toEqual(before)
  })
})

describe('replaceKeys', () => {
  const [leaked, other, fresh] = ['leaked', 'other', 'fresh'].map((name) => signingKey('ES256', name)) as [
    PrivateTokenKey,
    PrivateTokenKey,
    PrivateTokenKey,
  ]
  const publicOf = (keys: PrivateTokenKey[]) =>
    issuerOf(keys)
      .jwks()
      .keys.map((publicKey) => ({ alg: 'ES256', publicKey }) as const)

  it.each([
    ['an issuer', (keys: PrivateTokenKey[]) => issuerOf(keys), (keys: PrivateTokenKey[]) => keys],
    [
      'a verifier',
      (keys: PrivateTokenKey[]) => createTokenVerifier({ issuer: ISSUER, keys: publicOf(keys) }),
      publicOf,
    ],
  ] as const)(
    '%s refuses the tokens of a leaked key at once, and keeps those of the others cached',
    async (_what, create, form) => {
      const verifier = create([leaked, other])
      const [bad, good, later] = [leaked, other, fresh].map((key) => someToken(issuerOf(key))) as [
        string,
        string,
        string,
      ]
      const before = await verifier.verify(good)
      await verifier.verify(bad)
      verifier.replaceKeys(form([fresh, other]) as never)
      await expectInvalidToken(verifier.verify(bad), 'unknown_key')
      expect(await verifier.verify(good)).toBe(before)
      expect(await verifier.verify(later)).toMatchObject({ accountId: 'acc-1' })
    },
  )

  it('an issuer signs with the new first key, and publishes the new keys', async () => {
    const issuer = issuerOf([leaked, other])
    issuer.replaceKeys([fresh, other])
    const [first, second] = issuer.jwks().keys
    expect(headerOf(someToken(issuer))['kid']).toBe(first?.kid)
    expect([first?.kid, second?.kid]).toEqual([fresh, other].map((key) => issuerOf(key).jwks().keys[0]?.kid))
    expect(await issuer.verify(someToken(issuer))).toMatchObject({ accountId: 'acc-1' })
  })

  it.each<[string, unknown]>([
    ['none', []],
    ['a public key first', publicOf([fresh])],
    ['no key', undefined],
  ])('refuses %s, and the previous keys stay', async (_what, keys) => {
    const issuer = issuerOf([leaked, other])
    const token = someToken(issuer)
    expectMisuse(() => issuer.replaceKeys(keys as never), /^createTokenIssuer: /)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
    expect(headerOf(someToken(issuer))['kid']).toBe(headerOf(token)['kid'])
  })
})
