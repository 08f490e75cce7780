import { createTokenIssuer, createTokenVerifier } from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import { readJwkSet } from '../../../src/tokens/keys/jwk-set.js'
import {
  decodePayload,
  forge,
  goodParts,
  ISSUER,
  issueNow,
  makeIssuer,
  SECRET,
  signingKey,
} from '../../support/fixtures.js'
import { pairOf } from '../../support/keys.js'
import { outcomeOf, polluted } from '../../support/pollution.js'
import { atFrozenMoment, headerOf } from '../../support/tokens.js'

const { now, issuer, forged, clock } = atFrozenMoment()

describe('a token that lacks a member is refused, though every object inherits the member', () => {
  const { payload } = goodParts(now)

  it.each([
    ...['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti'].map((name) => ['payload', name, 'claims'] as const),
    ['header', 'alg', 'algorithm'] as const,
    ['header', 'typ', 'type'] as const,
    ['header', 'kid', 'unknown_key'] as const,
  ])('%s: %s', async (part, name, reason) => {
    const token = forged({ [part]: { [name]: undefined } })
    const inherited: Record<string, unknown> = { alg: 'HS256', typ: 'at+jwt', kid: 'k1', ...payload }
    const { error } = await polluted({ [name]: inherited[name] }, () => outcomeOf(() => issuer.verify(token)))
    expect(error).toMatchObject({ code: 'invalid_token', reason })
  })

  it('all claims', async () => {
    const token = forge(goodParts(now).header, {})
    const { error } = await polluted(payload, () => outcomeOf(() => issuer.verify(token)))
    expect(error).toMatchObject({ code: 'invalid_token', reason: 'claims' })
    expect(error).not.toHaveProperty('tokenId')
  })
})

it('a valid token says what it says, whatever every object inherits', async () => {
  const token = forged()
  const inherited = { scope: 'admin', nbf: now + 9999, crit: ['x'], claims: { admin: true }, admin: true, sub: 'evil' }
  const { value } = await polluted(inherited, () => outcomeOf(async () => ({ ...(await issuer.verify(token)) })))
  expect(value).toMatchObject({ accountId: 'acc-1', scopes: [] })
  expect(Object.keys(value?.claims ?? { none: 1 })).toEqual([])
})

describe('issue', () => {
  const issueWhile = (inherited: Record<string, unknown>, subject: object, tokens = issuer) =>
    polluted(inherited, () => outcomeOf(() => issueNow(tokens, subject as { accountId: string })))

  it.each<[string, unknown]>([
    ['scopes', ['admin']],
    ['claims', { admin: true }],
    ['issuedAt', new Date(0)],
    ['iat', 0],
    ['exp', 9e9],
    ...'scope client_id toJSON alg typ kid header encoding'.split(' ').map((name): [string, unknown] => [name, 'evil']),
    ['crit', ['x']],
  ])('puts no inherited %s into a token', async (name, value) => {
    const subject = { accountId: 'acc-é' }
    const { value: issued } = await issueWhile({ [name]: value }, subject)
    const plain = issueNow(issuer, subject).token
    expect(headerOf(issued?.token ?? '')).toEqual(headerOf(plain))
    expect(decodePayload(issued?.token ?? '')).toEqual({ ...decodePayload(plain), jti: issued?.id })
    expect(await issuer.verify(issued?.token ?? '')).toMatchObject({ accountId: 'acc-é' })
  })

  it('takes no inherited account id', async () => {
    const { error } = await issueWhile({ accountId: 'acc-1' }, {})
    expect(error).toMatchObject({ message: expect.stringContaining('issue: "accountId" must be a non-empty string') })
  })

  it('takes what a class provides', () => {
    class Subject {
      accountId = 'acc-1'
      get scopes() {
        return ['a']
      }
    }
    expect(decodePayload(issueNow(issuer, new Subject()).token)).toMatchObject({ sub: 'acc-1', scope: 'a' })
  })

  it('reads each member once', () => {
    const reads: string[] = []
    const members: Record<string, unknown> = { accountId: 'acc-1', scopes: ['a'], issuedAt: new Date(clock()) }
    const get = (_: object, name: string) => {
      reads.push(name)
      return members[name]
    }
    issueNow(issuer, new Proxy({ accountId: '' }, { get } as object))
    expect(reads.sort()).toEqual([
      'accountId',
      'amr',
      'claims',
      'issuedAt',
      'lifetime',
      'scopes',
      'sessionId',
      'signedInAt',
    ])
  })
})

it('options are not inherited', async () => {
  const inherited = { audience: 'evil', clientId: 'evil', lifetime: '9 days', clockTolerance: 60, clock: () => 0 }
  const token = forged({ payload: { iat: now - 9, exp: now } })
  const { value } = await polluted(inherited, () => outcomeOf(() => makeIssuer({ clock })))
  const { token: issued } = (await value?.issue({ accountId: 'acc-1' })) ?? { token: '' }
  expect(decodePayload(issued)).toMatchObject({ aud: ISSUER, client_id: ISSUER, iat: now, exp: now + 3600 })
  expect((await outcomeOf(() => value?.verify(token))).error).toMatchObject({ reason: 'expired' })
})

describe('key entries', () => {
  const issuerWhile = (inherited: Record<string, unknown>, keys: unknown) =>
    polluted(inherited, () => outcomeOf(() => createTokenIssuer({ issuer: ISSUER, keys: keys as never })))

  const { d } = pairOf('ES256').privateKey.export({ format: 'jwk' })
  it.each<[string, Record<string, unknown>, unknown]>([
    ['secret', { secret: SECRET }, { alg: 'HS256' }],
    ['alg', { alg: 'HS256' }, { secret: SECRET }],
    ['privateKey', { privateKey: pairOf('ES256').privateKey }, { alg: 'ES256' }],
    ['d', { d }, { alg: 'ES256', privateKey: pairOf('ES256').publicKey.export({ format: 'jwk' }) }],
  ])('inherit no %s', async (_, inherited, keys) => {
    const { error } = await issuerWhile(inherited, keys)
    expect(error).toBeInstanceOf(TypeError)
  })

  it.each<[string, unknown]>([
    ['kid', 'evil'],
    ['publicKey', 'evil'],
    ['secret', 'evil'],
    ['use', 'enc'],
    ['key_ops', ['encrypt']],
    ['passphrase', 'evil'],
    ['cipher', 'evil'],
  ])('are not changed by an inherited %s', async (name, value) => {
    const privateKey = pairOf('ES256').privateKey.export({ format: 'jwk' })
    const plain = createTokenIssuer({ issuer: ISSUER, keys: { alg: 'ES256', privateKey } })
    const { value: made, error } = await issuerWhile({ [name]: value }, { alg: 'ES256', privateKey })
    expect(error).toBeUndefined()
    expect(made?.jwks()).toEqual(plain.jwks())
  })

  it.each(['privateKey', 'd'])('of a verifier are not taken for private ones: an inherited %s', async (name) => {
    const publicKey = pairOf('ES256').publicKey.export({ format: 'jwk' })
    const verifierOf = () => createTokenVerifier({ issuer: ISSUER, keys: { alg: 'ES256', publicKey } })
    expect((await polluted({ [name]: 'x' }, () => outcomeOf(verifierOf))).error).toBeUndefined()
  })

  it('are read once', () => {
    const secret = vi.fn().mockReturnValueOnce(SECRET)
    const entry = Object.defineProperty({ alg: 'HS256' as const, kid: 'k1' }, 'secret', {
      get: secret,
      enumerable: true,
    })
    expect(() => createTokenIssuer({ issuer: ISSUER, keys: entry as never })).not.toThrow()
    expect(secret).toHaveBeenCalledOnce()
  })
})

describe('a JWK set', () => {
  const jwk = (alg: 'ES256' | 'RS256') =>
    Object.assign(pairOf(alg).publicKey.export({ format: 'jwk' }), { kid: 'k', alg, use: 'sig' })
  const without = (members: Record<string, unknown>, name: string) =>
    Object.fromEntries(Object.entries(members).filter(([one]) => one !== name))

  it.each([
    ...'kty crv x y'.split(' ').map((name) => ['ES256', name] as const),
    ...'kty n e alg'.split(' ').map((name) => ['RS256', name] as const),
  ])('has no %s key that lacks %s, though every object inherits it', async (alg, name) => {
    const whole: Record<string, unknown> = jwk(alg)
    const text = JSON.stringify({ keys: [without(whole, name)] })
    const { value } = await polluted({ [name]: whole[name] }, () => outcomeOf(() => readJwkSet(text)))
    expect(value?.size).toBe(0)
  })

  it.each(['ES256', 'RS256'] as const)(
    'has an %s key that lacks kid by its thumbprint, though every object inherits one',
    async (alg) => {
      const text = JSON.stringify({ keys: [without(jwk(alg), 'kid')] })
      const { value } = await polluted({ kid: 'k' }, () => outcomeOf(() => readJwkSet(text)))
      expect([...(value?.keys() ?? [])]).toEqual([expect.stringMatching(/^[\w-]{43}$/)])
    },
  )

  it('is none without keys of its own', async () => {
    const { error } = await polluted({ keys: [jwk('ES256')] }, () => outcomeOf(() => readJwkSet('{}')))
    expect(error).toMatchObject({ message: 'the response is not a JWK set' })
  })

  it.each<[string, unknown]>([
    ['use', 'enc'],
    ['alg', 'HS256'],
    ['key_ops', ['encrypt']],
    ['d', 'AQ'],
    ['k', 'AQ'],
  ])('keeps its keys whatever %s every object inherits', async (name, value) => {
    const text = JSON.stringify({ keys: [without(jwk('ES256'), name)] })
    const { value: keys } = await polluted({ [name]: value }, () => outcomeOf(() => readJwkSet(text)))
    expect([...(keys?.keys() ?? [])]).toEqual(['k'])
  })
})

describe.each(['HS256', 'RS256', 'PS256', 'ES256', 'Ed25519'] as const)('a key of %s', (alg) => {
  const tokens = createTokenIssuer({ issuer: ISSUER, keys: signingKey(alg), cache: false })
  it.each([
    { n: 'AQ', e: 'AQ', kty: 'oct', crv: 'P-521', alg: 'none', kid: 'evil', keys: [] },
    ...'padding saltLength dsaEncoding context format type passphrase'.split(' ').map((name) => ({ [name]: 'evil' })),
  ])('verifies all the same, and issues a valid token or none, while every object inherits %j', async (inherited) => {
    const { token } = issueNow(tokens, { accountId: 'acc-1' })
    const verified = await polluted(inherited, () => outcomeOf(() => tokens.verify(token)))
    expect(verified.value).toMatchObject({ accountId: 'acc-1' })
    const { value } = await polluted(inherited, () => outcomeOf(() => tokens.issue({ accountId: 'acc-1' })))
    if (value) expect(await tokens.verify(value.token)).toMatchObject({ accountId: 'acc-1' })
  })
})
