import { createTokenIssuer } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { readJwkSet } from '../../../src/tokens/keys/jwk-set.js'
import { decodePayload, goodParts, ISSUER, issueNow, makeIssuer, SECRET } from '../../support/fixtures.js'
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
})

describe('a JWK set', () => {
  const jwk = (alg: 'ES256' | 'RS256') =>
    Object.assign(pairOf(alg).publicKey.export({ format: 'jwk' }), { kid: 'k', alg, use: 'sig' })
  const without = (members: Record<string, unknown>, name: string) =>
    Object.fromEntries(Object.entries(members).filter(([one]) => one !== name))

  it.each([
    ...'kty crv x y kid'.split(' ').map((name) => ['ES256', name] as const),
    ...'kty n e alg kid'.split(' ').map((name) => ['RS256', name] as const),
  ])('has no %s key that lacks %s, though every object inherits it', async (alg, name) => {
    const whole: Record<string, unknown> = jwk(alg)
    const text = JSON.stringify({ keys: [without(whole, name)] })
    const { value } = await polluted({ [name]: whole[name] }, () => outcomeOf(() => readJwkSet(text)))
    expect(value?.size).toBe(0)
  })
})
