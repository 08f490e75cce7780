// Tests tokens/keys/verifier-keys.ts tokens/jwt/verify-token.ts: keys that have another name than the token says

import { createTokenVerifier, type JwtVerifierOptions, oldTokens, remoteKeys } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectInvalidToken, refusalOf } from '../../../support/failures.js'
import { forge, frozenClock, ISSUER, SECRET, signingKey } from '../../../support/fixtures.js'
import { startSource } from '../../../support/jwks-source.js'
import { pairOf } from '../../../support/keys.js'

const clock = frozenClock()
const issuer = 'https://tenant.example/'
const audience = 'https://api.example.com'
const now = clock.seconds()
const claims = { iss: issuer, aud: audience, sub: 'user-1', azp: 'client-1', iat: now, exp: now + 3600 }

type Alg = 'ES256' | 'RS256' | 'Ed25519'
const jwkOf = (alg: Alg, members: object = {}, name?: string) => ({
  ...pairOf(alg, name).publicKey.export({ format: 'jwk' }),
  ...members,
})
const tokenOf = (alg: Alg, header: object = {}, name?: string) =>
  forge({ alg, typ: 'JWT', ...header }, claims, pairOf(alg, name).privateKey, alg)

async function follow(keys: object[], accepts: Pick<JwtVerifierOptions, 'accept'> | object = { accept: 'jwt' }) {
  const source = await startSource({ keys })
  const remote = remoteKeys(source.url, { clock, onError() {} })
  const options = { issuer, audience, keys: remote, clock, ...accepts } as JwtVerifierOptions
  return { source, remote, verify: (text: string) => createTokenVerifier(options).verify(text) }
}

describe('a token without a kid', () => {
  it('has the only key of a set, with or without a kid there', async () => {
    for (const jwk of [jwkOf('ES256'), jwkOf('ES256', { kid: 'k1' })]) {
      const { verify, source } = await follow([jwk, { kty: 'new' }, { ...jwkOf('RS256'), use: 'enc' }])
      expect(await verify(tokenOf('ES256'))).toMatchObject({ accountId: 'user-1' })
      await expectInvalidToken(verify(tokenOf('ES256', { kid: 'k2' })), 'unknown_key')
      expect(source.requests()).toBeGreaterThan(0)
    }
  })

  it('has the only key of the process, also as an ID token', async () => {
    const keys = { alg: 'ES256', publicKey: pairOf('ES256').publicKey } as const
    const provider = createTokenVerifier({ issuer, audience, keys, accept: 'jwt', clock })
    expect(await provider.verify(tokenOf('ES256'))).toMatchObject({ accountId: 'user-1' })
    await expectInvalidToken(provider.verify(tokenOf('ES256', {}, 'other')), 'signature')
    await expectInvalidToken(provider.verify(tokenOf('RS256')), 'algorithm')
    const idTokens = createTokenVerifier({ issuer, audience: 'client-1', keys, accept: 'id-token', clock })
    const text = forge({ alg: 'ES256' }, { ...claims, aud: 'client-1' }, pairOf('ES256').privateKey, 'ES256')
    expect(await idTokens.verify(text)).toMatchObject({ subject: 'user-1' })
  })

  it('has none among several keys, with whatever kid', async () => {
    const sets = [
      [jwkOf('ES256'), jwkOf('ES256', {}, 'other')],
      [jwkOf('ES256', { kid: 'k1' }), jwkOf('RS256', { kid: 'k2', alg: 'RS256' })],
      [jwkOf('ES256'), jwkOf('RS256', { kid: 'k2', alg: 'RS256' })],
    ]
    for (const set of sets) {
      const { verify } = await follow(set)
      await expectInvalidToken(verify(tokenOf('ES256')), 'unknown_key')
    }
  })

  it.each([null, '', 7, ['k1']])('has one only where it has no kid at all: %j', async (kid) => {
    const { verify } = await follow([jwkOf('ES256')])
    await expectInvalidToken(verify(tokenOf('ES256', { kid })), 'unknown_key')
  })

  it('has none of our own form', async () => {
    const { verify } = await follow([jwkOf('ES256')], {})
    await expectInvalidToken(verify(tokenOf('ES256', { typ: 'at+jwt' })), 'unknown_key')
  })

  it('finds the key that has replaced the only one, and waits for a source that is down', async () => {
    const { source, remote } = await follow([jwkOf('ES256')])
    const moving = frozenClock()
    const keys = remoteKeys(source.url, { clock: moving, onError() {} })
    const verifier = createTokenVerifier({ issuer, audience, keys, accept: 'jwt', clock, cache: false })
    expect(remote.url).toBe(keys.url)
    await verifier.verify(tokenOf('ES256'))
    moving.advance(30_000)
    source.serve({ keys: [jwkOf('Ed25519')] })
    expect(await verifier.verify(tokenOf('Ed25519'))).toMatchObject({ accountId: 'user-1' })
    await expectInvalidToken(verifier.verify(tokenOf('ES256')), 'unknown_key')
    moving.advance(30_000)
    source.serve({ keys: [jwkOf('ES256', {}, 'other')] })
    expect(await verifier.verify(tokenOf('ES256', {}, 'other'))).toMatchObject({ accountId: 'user-1' })
    moving.advance(30_000)
    source.serve('down')
    expect(await refusalOf(verifier.verify(tokenOf('ES256')))).toMatchObject({ code: 'unavailable' })
  })
})

describe('EdDSA, the older name of Ed25519', () => {
  it.each(['EdDSA', 'Ed25519'])('is in a set and in headers: %s', async (name) => {
    for (const alg of ['EdDSA', 'Ed25519', undefined]) {
      const { verify } = await follow([jwkOf('Ed25519', { kid: 'k1', ...(alg && { alg }) })])
      expect(await verify(tokenOf('Ed25519', { alg: name, kid: 'k1' }))).toMatchObject({ accountId: 'user-1' })
      expect(await verify(tokenOf('Ed25519', { alg: name }))).toMatchObject({ accountId: 'user-1' })
    }
  })

  it('is in a JWK of the option keys, and in the tokens of our form', async () => {
    const publicKey = jwkOf('Ed25519', { kid: 'k1', alg: 'EdDSA' })
    const tokens = createTokenVerifier({ issuer: ISSUER, keys: { alg: 'Ed25519', publicKey }, clock })
    const payload = { ...claims, iss: ISSUER, aud: ISSUER, client_id: 'c', jti: 'j' }
    const header = { alg: 'EdDSA', kid: 'k1', typ: 'at+jwt' }
    expect(await tokens.verify(forge(header, payload, pairOf('Ed25519').privateKey, 'Ed25519'))).toMatchObject({
      id: 'j',
    })
  })

  it('is no name of another key, and no other name is one of Ed25519', async () => {
    const edOnly = await follow([jwkOf('Ed25519', { kid: 'k1' })])
    for (const alg of ['eddsa', 'Ed448', 'ES256', 'HS256', 'none', 'ED25519', null])
      await expectInvalidToken(edOnly.verify(tokenOf('Ed25519', { alg, kid: 'k1' })), 'algorithm')
    const ecOnly = await follow([jwkOf('ES256', { kid: 'k1' })])
    await expectInvalidToken(ecOnly.verify(tokenOf('ES256', { alg: 'EdDSA', kid: 'k1' })), 'algorithm')
    await expectInvalidToken(ecOnly.verify(tokenOf('Ed25519', { alg: 'EdDSA', kid: 'k1' })), 'algorithm')
    const keys = { alg: 'HS256', secret: SECRET, kid: 'k1' } as const
    const secretOnly = createTokenVerifier({ issuer, audience, keys, accept: 'jwt', clock })
    await expectInvalidToken(secretOnly.verify(tokenOf('Ed25519', { alg: 'EdDSA', kid: 'k1' })), 'algorithm')
  })
})

describe('an old token', () => {
  const settings = {
    accountId: ({ sub }: Readonly<Record<string, unknown>>) => sub,
    until: new Date(clock() + 9e6),
    clock,
  }

  it.each(['HS384', 'HS512', 'RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'Ed25519'] as const)(
    'is verified by %s, and by no other algorithm',
    async (alg) => {
      const isSecret = alg.startsWith('HS')
      const pair = isSecret ? undefined : pairOf(alg)
      const keys = isSecret ? { alg, secret: 'shhh' } : { alg, publicKey: pair?.publicKey }
      const old = oldTokens({ ...settings, keys: keys as never })
      const write = (head: object = {}) => forge({ alg, ...head }, claims, pair?.privateKey ?? 'shhh', alg)
      expect(await old.verify(write())).toMatchObject({ accountId: 'user-1' })
      expect(await old.verify(write({ kid: 'main' }))).toMatchObject({ accountId: 'user-1' })
      await expectInvalidToken(old.verify(write({ alg: 'HS256' })), 'algorithm')
      // Everyone has the public key.
      const pem = pair ? String(pair.publicKey.export({ type: 'spki', format: 'pem' })) : 'guess'
      await expectInvalidToken(old.verify(forge({ alg: 'HS256' }, claims, pem)), 'algorithm')
      await expectInvalidToken(old.verify(forge({ alg: 'none' }, claims, 'shhh')), 'algorithm')
    },
  )

  it('is verified by each key of a list, and by the one that it names', async () => {
    const [a, b] = ['first', 'second']
    const keys = [
      { alg: 'HS256', secret: a, kid: 'a' },
      { alg: 'HS256', secret: b, kid: 'b' },
      { alg: 'HS512', secret: 'third' },
    ] as const
    const old = oldTokens({ ...settings, keys })
    const write = (secret: string, head: object = {}, alg: 'HS256' | 'HS512' = 'HS256') =>
      forge({ alg, ...head }, claims, secret, alg)
    for (const text of [
      write(a),
      write(b),
      write(b, { kid: 'b' }),
      write(b, { kid: 'z' }),
      write('third', {}, 'HS512'),
    ])
      expect(await old.verify(text)).toMatchObject({ accountId: 'user-1' })
    await expectInvalidToken(old.verify(write(b, { kid: 'a' })), 'signature')
    await expectInvalidToken(old.verify(write('guess')), 'signature')
    await expectInvalidToken(old.verify(write('third')), 'signature')
    await expectInvalidToken(old.verify(write(a, {}, 'HS512')), 'signature')
  })

  it('is verified by a JWK, a PEM and remote keys, whose new key it finds', async () => {
    const { privateKey, publicKey } = pairOf('ES256')
    const text = (head: object = {}) => forge({ alg: 'ES256', ...head }, claims, privateKey, 'ES256')
    const materials = [publicKey.export({ format: 'jwk' }), String(publicKey.export({ type: 'spki', format: 'pem' }))]
    for (const publicKey of materials)
      expect(await oldTokens({ ...settings, keys: { alg: 'ES256', publicKey } }).verify(text())).toMatchObject({
        issuer: 'old-tokens',
      })
    const { source } = await follow([jwkOf('RS256', { kid: 'k1', alg: 'RS256' })])
    const moving = frozenClock()
    const old = oldTokens({ ...settings, keys: remoteKeys(source.url, { clock: moving, onError() {} }) })
    await old.verify(tokenOf('RS256', { kid: 'k1' }))
    for (const head of [{}, { kid: 'k2' }]) await expectInvalidToken(old.verify(text(head)), 'unknown_key')
    source.serve({ keys: [jwkOf('RS256', { kid: 'k1', alg: 'RS256' }), jwkOf('ES256', { kid: 'k2' })] })
    moving.advance(30_000)
    for (const head of [{ kid: 'k2' }, {}]) expect(await old.verify(text(head))).toMatchObject({ accountId: 'user-1' })
    await expectInvalidToken(
      old.verify(forge({ alg: 'ES256', kid: 'k2' }, claims, pairOf('ES256', 'x').privateKey, 'ES256')),
      'signature',
    )
  })

  it('is tolerated by the difference between clocks, and never from `until` on', async () => {
    const moving = frozenClock()
    const old = oldTokens({ ...settings, keys: { alg: 'HS256', secret: 'shhh' }, clock: moving, clockTolerance: '30s' })
    const write = (times: object) => forge({ alg: 'HS256' }, { ...claims, ...times }, 'shhh')
    const [short, late] = [write({ exp: now + 10 }), write({ exp: now + 9e6 })]
    expect((await old.verify(short)).expiresAt).toEqual(new Date((now + 10) * 1000))
    await old.verify(write({ nbf: now + 30 }))
    await expectInvalidToken(old.verify(write({ nbf: now + 31 })), 'not_yet_valid')
    moving.advance(39_999)
    await old.verify(short)
    moving.advance(1)
    await expectInvalidToken(old.verify(short), 'expired')
    moving.advance(9e6 - 40_000 - 1)
    expect((await old.verify(late)).expiresAt).toEqual(settings.until)
    moving.advance(1)
    await expectInvalidToken(old.verify(late), 'expired')
  })
})

it('keys of a process keep their errors', () => {
  const privateKey = signingKey('ES256').privateKey as string
  for (const create of [
    () => createTokenVerifier({ issuer: ISSUER, keys: { alg: 'ES256', privateKey } as never }),
    () => oldTokens({ keys: { alg: 'ES256', privateKey } as never, accountId: () => 'x', until: new Date() }),
  ])
    expect(create).toThrow(/option "keys" must not contain a "privateKey"/)
})
