import { createSecretKey } from 'node:crypto'
import {
  createTokenIssuer,
  createTokenVerifier,
  type KeyMaterial,
  type PrivateTokenKey,
  type PublicTokenKey,
  type TokenIssuerOptions,
} from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ISSUER, SECRET, signingKey } from '../../../support/fixtures.js'
import { pairOf, privatePem, publicPem } from '../../../support/keys.js'
import { polluted } from '../../../support/pollution.js'
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

it.each<[string, unknown]>([
  ['alg', 'RS256'],
  ['use', 'enc'],
  ['key_ops', ['encrypt']],
])('no key inherits the %s of a JWK from all objects', async (name, value) => {
  const { privateKey } = pairOf('ES256')
  const materials = [privatePem(privateKey), privateKey, privateKey.export({ format: 'jwk' })]
  const made = await polluted({ [name]: value }, () =>
    materials.map((one) => issuerOf({ alg: 'ES256', privateKey: one })),
  )
  expect(made.map((issuer) => headerOf(someToken(issuer))['alg'])).toEqual(['ES256', 'ES256', 'ES256'])
})

it.each<[string, object]>([
  ['a secret beside a key pair', { alg: 'HS256', secret: SECRET, privateKey: undefined, publicKey: undefined }],
  ['a key pair beside a secret', { ...signingKey('ES256'), secret: undefined, publicKey: undefined }],
])('material that is undefined is absent: %s', (_, key) => {
  expect(() => issuerOf(key as PrivateTokenKey)).not.toThrow()
})

describe('a secret', () => {
  it.each([
    ['text, by its UTF-8 bytes', 'é'.repeat(16)],
    ['bytes', Buffer.from('é'.repeat(16))],
    ['a Uint8Array', new TextEncoder().encode('é'.repeat(16))],
    ['a KeyObject', createSecretKey(Buffer.from('é'.repeat(16)))],
  ])('may be %s', async (_, secret) => {
    const token = someToken(issuerOf({ alg: 'HS256', secret: 'é'.repeat(16) }))
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
    const kids = [
      signingKey('ES256'),
      signingKey('ES256', 'two'),
      { alg: 'HS256' as const, secret: SECRET },
      { alg: 'HS256' as const, secret: `${SECRET}!` },
    ].map((key) => headerOf(someToken(issuerOf(key)))['kid'])
    expect(new Set(kids).size).toBe(4)
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
