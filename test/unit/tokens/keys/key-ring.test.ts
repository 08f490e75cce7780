import { createHash, createSecretKey, type JsonWebKey } from 'node:crypto'
import {
  createTokenIssuer,
  createTokenVerifier,
  type KeyMaterial,
  type PrivateTokenKey,
  type PublicTokenKey,
  type TokenIssuer,
  type TokenIssuerOptions,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectInvalidToken, expectMisuse } from '../../../support/failures.js'
import { ALGORITHMS, ISSUER, SECRET, signingKey } from '../../../support/fixtures.js'
import { pairOf, privatePem, publicPem } from '../../../support/keys.js'
import { headerOf, someToken } from '../../../support/tokens.js'

const issuerOf = (keys: TokenIssuerOptions['keys']) => createTokenIssuer({ issuer: ISSUER, keys })
const verifierOf = (keys: PublicTokenKey | PublicTokenKey[]) => createTokenVerifier({ issuer: ISSUER, keys })

describe.each(['RS256', 'ES256'] as const)('%s key material', (alg) => {
  const { privateKey, publicKey } = pairOf(alg)
  const own = alg === 'RS256' ? 'pkcs1' : 'sec1'
  const kid = 'k1'

  it.each<[string, KeyMaterial]>([
    ['a PKCS #8 PEM', privatePem(privateKey)],
    [`a ${own} PEM`, privateKey.export({ type: own, format: 'pem' } as never) as unknown as string],
    ['a PEM with CRLF line ends', privatePem(privateKey).replaceAll('\n', '\r\n')],
    ['a JWK', privateKey.export({ format: 'jwk' })],
    ['a KeyObject', privateKey],
  ])('signs as %s', async (_, material) => {
    const token = someToken(issuerOf({ alg, privateKey: material, kid }))
    expect(await verifierOf({ alg, publicKey, kid }).verify(token)).toMatchObject({ accountId: 'acc-1' })
  })

  it.each<[string, KeyMaterial]>([
    ['an SPKI PEM', publicPem(publicKey)],
    ['a JWK', publicKey.export({ format: 'jwk' })],
    [
      'a JWK that says what it is for',
      { ...publicKey.export({ format: 'jwk' }), alg, use: 'sig', key_ops: ['verify'] },
    ],
    ['a KeyObject', publicKey],
  ])('verifies as %s', async (_, material) => {
    const token = someToken(issuerOf({ alg, privateKey, kid }))
    expect(await verifierOf({ alg, publicKey: material, kid }).verify(token)).toMatchObject({ accountId: 'acc-1' })
  })
})

it.each<[string, object]>([
  ['a secret beside a key pair', { alg: 'HS256', secret: SECRET, privateKey: undefined, publicKey: undefined }],
  ['a key pair beside a secret', { ...signingKey('ES256'), secret: undefined, publicKey: undefined }],
])('material that is undefined is absent: %s', (_, key) => {
  expect(() => issuerOf(key as PrivateTokenKey)).not.toThrow()
})

describe('a secret', () => {
  const LONG = 'éèùâêîôû'.repeat(2)

  it.each([
    ['text, by its UTF-8 bytes', LONG],
    ['bytes', Buffer.from(LONG)],
    ['a Uint8Array', new TextEncoder().encode(LONG)],
    ['a KeyObject', createSecretKey(Buffer.from(LONG))],
  ])('may be %s', async (_, secret) => {
    const token = someToken(issuerOf({ alg: 'HS256', secret: LONG }))
    expect(await issuerOf({ alg: 'HS256', secret }).verify(token)).toMatchObject({ accountId: 'acc-1' })
  })

  it('stays what it was when its bytes are wiped', async () => {
    const secret = Buffer.from(SECRET)
    const issuer = issuerOf({ alg: 'HS256', secret })
    secret.fill(0)
    expect(await issuerOf({ alg: 'HS256', secret: SECRET }).verify(someToken(issuer))).toBeTruthy()
  })
})

describe('kid', () => {
  it.each(['', 7, null, ['k1'], undefined])('is no name of a JWK’s that is no text: %j', (kid) => {
    const jwk = pairOf('ES256').privateKey.export({ format: 'jwk' })
    const kidOf = (privateKey: KeyMaterial) => headerOf(someToken(issuerOf({ alg: 'ES256', privateKey })))['kid']
    expect(kidOf({ ...jwk, kid })).toBe(kidOf(jwk))
  })

  it('is the RFC 7638 thumbprint of a public key: the example of section 3.1', () => {
    const publicKey = {
      kty: 'RSA',
      n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
      e: 'AQAB',
    }
    const { keys } = issuerOf([signingKey('RS256'), { alg: 'RS256', publicKey }]).jwks()
    expect(keys[1]?.kid).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
  })

  it.each([
    // RFC 8037 appendix A.3.
    ['Ed25519', { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
    ['ES256', pairOf('ES256').publicKey.export({ format: 'jwk' })],
  ] as const)('is the RFC 7638 thumbprint of the members in their order: %s', (alg, publicKey) => {
    const { crv, kty, x, y } = publicKey as JsonWebKey
    const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
    const { keys } = issuerOf([signingKey(alg, 'two'), { alg, publicKey }]).jwks()
    expect(keys[1]?.kid).toBe(kid)
  })

  it('of a secret is the same in every process and version', () => {
    expect(headerOf(someToken(issuerOf({ alg: 'HS256', secret: SECRET })))['kid']).toBe('X2PQngxkGy6JLFlDO7kwRR')
  })

  it.each(['RS256', 'ES256', 'ES512'] as const)('is the same for both halves of a key pair: %s', (alg) => {
    const { privateKey, publicKey } = pairOf(alg)
    const [first, second] = [
      issuerOf({ alg, privateKey }),
      issuerOf([signingKey(alg, 'two'), { alg, publicKey: publicPem(publicKey) }]),
    ].map((issuer) => issuer.jwks().keys.map(({ kid }) => kid))
    expect(second).toContain(first?.[0])
    expect(first?.[0]).toMatch(/^[\w-]{43}$/)
  })

  it('differs between two key pairs, and between two secrets', () => {
    const secrets = [SECRET, `${SECRET}!`].map((secret) => ({ alg: 'HS256' as const, secret }))
    const keys = [signingKey('ES256'), signingKey('ES256', 'two'), ...secrets]
    expect(new Set(keys.map((key) => headerOf(someToken(issuerOf(key)))['kid'])).size).toBe(4)
  })

  it.each([
    ['the option', { kid: 'option' }, { kid: 'jwk' }, 'option'],
    ['else the JWK’s own', {}, { kid: 'jwk' }, 'jwk'],
    ['undefined is the same as absent', { kid: undefined }, { kid: 'jwk' }, 'jwk'],
  ])('is what the host says: %s', (_, option, member, kid) => {
    const privateKey = { ...pairOf('ES256').privateKey.export({ format: 'jwk' }), ...member }
    expect(headerOf(someToken(issuerOf({ alg: 'ES256', privateKey, ...option } as PrivateTokenKey)))['kid']).toBe(kid)
  })
})

it('the caller’s keys are not changed', () => {
  const jwk = pairOf('ES256').privateKey.export({ format: 'jwk' })
  const keys: PrivateTokenKey[] = [{ alg: 'ES256', privateKey: jwk }, signingKey('RS256')]
  const before = structuredClone(keys)
  someToken(issuerOf(keys))
  expect(keys).toEqual(before)
})

const secrets = ['one', 'two', 'three'].map((kid) => ({ alg: 'HS256' as const, secret: `${kid} ${SECRET}`, kid }))

describe('several keys', () => {
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
    const keys = (['RS256', 'PS384', 'ES512'] as const).map((alg) => ({ ...signingKey(alg, alg), kid: alg }))
    const issuer = issuerOf(keys)
    for (const key of keys) expect(await issuer.verify(someToken(issuerOf(key)))).toMatchObject({ accountId: 'acc-1' })
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

  it.each<[string, PrivateTokenKey, PrivateTokenKey]>([
    ['secrets', ...(secrets.slice(0, 2) as unknown as [PrivateTokenKey, PrivateTokenKey])],
    ['key pairs', oldKey, newKey],
  ])(
    'refuses no token while a process has the keys of before, and the old ones at the end: %s',
    async (_, one, two) => {
      const [first, ...later] = [[one], [one, two], [two, one], [two]].map(issuerOf) as [TokenIssuer, ...TokenIssuer[]]
      let before = first
      for (const after of later) {
        for (const token of [before, after].map(someToken)) {
          for (const issuer of [before, after]) expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
        }
        before = after
      }
      await expectInvalidToken(before.verify(someToken(first)), 'unknown_key')
    },
  )
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

  it.each<[string, unknown, RegExp]>([
    ['none', [], /^replaceKeys: /],
    ['a public key first', publicOf([fresh]), /^replaceKeys: the first key in "keys" signs/],
    ['no key', undefined, /^replaceKeys: /],
    [
      'a secret',
      { alg: 'HS256', secret: 'secret x'.repeat(4) },
      /^replaceKeys: .* stay key pairs, because secrets are never/,
    ],
  ])('refuses %s, and the previous keys stay', async (_what, keys, says) => {
    const issuer = issuerOf([leaked, other])
    const token = someToken(issuer)
    expectMisuse(() => issuer.replaceKeys(keys as never), says)
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1' })
    expect(headerOf(someToken(issuer))['kid']).toBe(headerOf(token)['kid'])
  })
})
