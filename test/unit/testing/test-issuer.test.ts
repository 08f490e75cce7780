// Tests testing/{refused-tokens,test-clock,tests-only}.ts

import { createHmac, createPublicKey } from 'node:crypto'
import {
  type Account,
  createTokenIssuer,
  createTokenVerifier,
  remoteKeys,
  type TokenRefusal,
} from 'express-token-endpoint'
import { createTestIssuer, type TestIssuer, type TestIssuerOptions } from 'express-token-endpoint/testing'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { testClock } from '../../../src/testing/test-clock.js'
import { verifierOf } from '../../../src/tokens/verifier.js'
import { expectInvalidToken, expectMisuse } from '../../support/failures.js'
import { ALGORITHMS, ISSUER, SECRET, signingKey } from '../../support/fixtures.js'

const ALICE: Account = {
  id: 'acc-1',
  passwordHash: null,
  scopes: ['reports:read', 'reports:write'],
  claims: { plan: 'free' },
}

const tokenOf = ({ Authorization }: { Authorization: string }) => Authorization.slice('Bearer '.length)

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

describe('bearer', () => {
  it('takes an id alone, and an account whose scopes and claims are null', async () => {
    const { tokens, bearer } = createTestIssuer()
    for (const account of ['acc-1', { id: 'acc-1' }, { id: 'acc-1', scopes: null, claims: null }]) {
      const verified = await tokens.verify(tokenOf(bearer(account)))
      expect(verified).toMatchObject({ accountId: 'acc-1', scopes: [], claims: {}, issuer: 'https://issuer.test' })
      expect(verified.audience).toBe('https://issuer.test')
    }
  })

  it('takes an account with members of the app, like a role that "allow" reads', async () => {
    const { tokens, bearer } = createTestIssuer()
    const account = { id: 'acc-1', role: 'admin' }
    expect(await tokens.verify(tokenOf(bearer(account)))).toMatchObject({ accountId: 'acc-1', scopes: [] })
  })

  it.each([
    ['nothing', undefined, 'is missing'],
    ['an account that was not found', null, 'is null'],
    ['a look-up that was not waited for', Promise.resolve(ALICE), 'is a Promise (is an "await" missing?)'],
    ['a number for an id', { id: 7 }, 'Its "id" must be a string'],
    ...['accountId', 'sub'].map((name) => [`an id as "${name}"`, { [name]: 'acc-1' }, 'Did you mean "id"?']),
    ...['role', 'roles', 'permissions'].map((name) => [`only "${name}"`, { [name]: 'a' }, 'Did you mean "scopes"?']),
    ['an account with "scope"', { ...ALICE, scope: 'a' }, 'Did you mean "scopes"?'],
    ['a number', 7, 'is a number'],
    ['a list', [ALICE], 'is an array'],
  ] as [string, unknown, string][])('refuses %s', (_, account, says) => {
    const { bearer, issue, refused } = createTestIssuer()
    for (const make of [bearer, issue, refused.expired]) {
      const error = () => make(account as never)
      expectMisuse(error, "the account of a test token must be an account's id, or an account { id, scopes?, claims? }")
      expectMisuse(error, says)
    }
  })
})

it('issue tells what a test may want to know', async () => {
  const { tokens, issue, clock } = createTestIssuer({ lifetime: '10m' })
  clock.set('2030-01-01T12:00:00Z')
  const { token, id, expiresAt, headers } = issue(ALICE)
  expect(headers).toEqual({ Authorization: `Bearer ${token}` })
  expect(expiresAt.toISOString()).toBe('2030-01-01T12:10:00.000Z')
  expect(await tokens.verify(token)).toMatchObject({ id, accountId: 'acc-1', expiresAt })
})

/** The documented reason for refusing each token. */
const REASONS = {
  expired: 'expired',
  notYetValid: 'not_yet_valid',
  foreign: 'issuer',
  foreignKey: 'unknown_key',
  otherAudience: 'audience',
  forged: 'signature',
  malformed: 'malformed',
  unsigned: 'malformed',
  publicKeyAsSecret: 'algorithm',
  idToken: 'type',
} as const satisfies Record<keyof TestIssuer['refused'], string>

const FAULTS = Object.entries(REASONS) as [keyof typeof REASONS, TokenRefusal][]

describe('refused', () => {
  it.each(FAULTS)('%s: whatever the options, the account and the moment, for the reason %s', async (fault, reason) => {
    const options = fc.record(
      {
        audience: fc.constantFrom('reports', ISSUER),
        lifetime: fc.oneof(fc.double({ min: 1, max: 86_400, noNaN: true }), fc.constant('366 days')),
        clockTolerance: fc.integer({ min: 0, max: 60 }),
        keys: fc.constantFrom(...ALGORITHMS).map((alg) => signingKey(alg)),
        issuer: fc.constantFrom(ISSUER, `${ISSUER}/`, 'http://localhost:3000/north'),
      },
      { requiredKeys: [] },
    )
    const moment = fc.date({ min: new Date('1972-01-01'), max: new Date('9998-12-31'), noInvalidDate: true })
    await fc.assert(
      fc.asyncProperty(options as fc.Arbitrary<TestIssuerOptions>, moment, async (given, at) => {
        const { tokens, clock, refused, bearer } = createTestIssuer(given)
        clock.set(at)
        expect(await tokens.verify(tokenOf(bearer(ALICE)))).toMatchObject({ accountId: 'acc-1' })
        await expectInvalidToken(tokens.verify(tokenOf(refused[fault](ALICE))), reason)
      }),
      { numRuns: 40 },
    )
  })

  it('notYetValid: is good two minutes later', async () => {
    const { tokens, clock, refused } = createTestIssuer()
    clock.set('2030-01-01')
    const token = tokenOf(refused.notYetValid(ALICE))
    clock.advance('119s')
    await expectInvalidToken(tokens.verify(token), 'not_yet_valid')
    clock.advance('1s')
    expect(await tokens.verify(token)).toMatchObject({ accountId: 'acc-1', scopes: ALICE.scopes })
  })

  it.each(['ES256', 'RS256', 'EdDSA'])(
    'publicKeyAsSecret: is signed with the published key of %s, as an attacker does',
    (alg) => {
      const { tokens, refused } = createTestIssuer({ keys: signingKey(alg === 'EdDSA' ? 'Ed25519' : (alg as 'ES256')) })
      const [header = '', payload = '', signature] = tokenOf(refused.publicKeyAsSecret(ALICE)).split('.')
      const [jwk] = tokens.jwks().keys
      const pem = createPublicKey({ key: jwk ?? {}, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
      expect(createHmac('sha256', pem).update(`${header}.${payload}`).digest('base64url')).toBe(signature)
      expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: 'HS256', kid: jwk?.kid })
    },
  )

  it('unsigned, idToken: have the header of an unsecured JWT, and of an ID token', () => {
    const { refused } = createTestIssuer()
    const headerOf = (headers: { Authorization: string }) =>
      JSON.parse(Buffer.from(tokenOf(headers).split('.')[0] ?? '', 'base64url').toString())
    expect(headerOf(refused.unsigned(ALICE))).toMatchObject({ alg: 'none', typ: 'at+jwt' })
    expect(tokenOf(refused.unsigned(ALICE))).toMatch(/^[^.]+\.[^.]+\.$/)
    expect(headerOf(refused.idToken(ALICE))).toMatchObject({ alg: 'ES256', typ: 'JWT' })
  })

  it('foreign, otherAudience: have a signature that holds, and are good where they are meant for, by the clock', async () => {
    const { tokens, refused, clock } = createTestIssuer({ audience: 'houses' })
    clock.set('2030-01-01')
    const [publicKey] = tokens.jwks().keys
    const keys = { alg: 'ES256', publicKey } as const
    const issuer = `${tokens.issuer}/another-environment`
    const elsewhere = createTokenVerifier({ issuer, audience: 'houses', keys, clock })
    expect(await elsewhere.verify(tokenOf(refused.foreign(ALICE)))).toMatchObject({ accountId: 'acc-1' })
    await expectInvalidToken(elsewhere.verify(tokenOf(refused.foreignKey(ALICE))), 'unknown_key')
    const audience = 'houses/another-audience'
    const other = createTokenVerifier({ issuer: tokens.issuer, audience, keys, clock })
    expect(await other.verify(tokenOf(refused.otherAudience(ALICE)))).toMatchObject({ accountId: 'acc-1', audience })
  })
})

describe('the issuer', () => {
  it('is asked by guards as any other: by its quick path', () => {
    expect(verifierOf(createTestIssuer().tokens)).toBeDefined()
    expect(Object.keys(createTestIssuer().tokens)).toEqual(
      Object.keys(createTokenIssuer({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET } })),
    )
  })

  it('has one key in a process, unless it is given one', async () => {
    const one = createTestIssuer()
    const other = createTestIssuer()
    expect(await other.tokens.verify(tokenOf(one.bearer('acc-1')))).toMatchObject({ accountId: 'acc-1' })
    expect(one.tokens.jwks().keys).toHaveLength(1)
    const mine = createTestIssuer({ keys: signingKey('RS256') })
    expect(mine.tokens.jwks().keys).toMatchObject([{ alg: 'RS256' }])
    await expectInvalidToken(mine.tokens.verify(tokenOf(one.bearer('acc-1'))), 'unknown_key')
  })

  it.each([
    [{ expiresIn: '1h' }, 'createTestIssuer: unknown option "expiresIn". Did you mean "lifetime"?'],
    [{ issuer: 'api.example.com' }, 'createTestIssuer: option "issuer" must be'],
    [{ lifetime: 0 }, 'createTestIssuer: option "lifetime" must be'],
    [{ keys: null }, 'createTestIssuer: option "keys" must be'],
    [{ keys: [{ alg: 'HS256', secret: 'short' }] }, `createTestIssuer: option "keys[0]".secret must be`],
    [{ keys: remoteKeys(`${ISSUER}/keys`) }, 'createTestIssuer: option "keys" must hold a key that signs'],
    [{ clock: 'now' }, 'createTestIssuer: option "clock" must be'],
  ])('refuses options that cannot be used: %o', (options, says) => {
    expectMisuse(() => createTestIssuer(options as never), says)
  })

  it('can be neither changed nor, taken apart, lose anything', async () => {
    const kit = createTestIssuer()
    expect(Object.isFrozen(kit) && Object.isFrozen(kit.refused) && Object.isFrozen(kit.tokens)).toBe(true)
    const { issue, refused, tokens } = kit
    const { malformed } = refused
    const { verify } = tokens
    expect(await verify(issue('acc-1').token)).toMatchObject({ accountId: 'acc-1' })
    await expectInvalidToken(verify(tokenOf(malformed('acc-1'))), 'malformed')
  })
})

it('the clock runs with the time, also with that of a test runner that makes its own', async () => {
  const { tokens, bearer } = createTestIssuer({ issuer: undefined, clock: undefined })
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-05-01T00:00:00Z') })
  expect(tokens.now()).toEqual(new Date('2031-05-01T00:00:00Z'))
  const token = tokenOf(bearer('acc-1'))
  vi.setSystemTime('2031-05-01T01:00:00Z')
  await expectInvalidToken(tokens.verify(token), 'expired')
})

it('the clock runs with another clock that it is given', () => {
  const { tokens, clock } = createTestIssuer({ clock: () => new Date('2030-01-01') })
  expect(tokens.now()).toEqual(new Date('2030-01-01'))
  clock.advance('1h')
  expect(tokens.now()).toEqual(new Date('2030-01-01T01:00:00Z'))
})

const NOON = Date.parse('2030-01-01T12:00:00Z')

/** Creates a test clock and its source. */
function running(start = NOON) {
  const source = { now: start }
  return { source, clock: testClock(() => source.now) }
}

describe('a test clock', () => {
  it('runs until it is set, then stands still, and runs again after a reset', () => {
    const { source, clock } = running()
    expect(clock()).toBe(NOON)
    source.now += 5
    expect(clock()).toBe(NOON + 5)
    clock.set('2040-01-01')
    source.now += 5
    expect(clock()).toBe(Date.parse('2040-01-01'))
    clock.reset()
    expect(clock()).toBe(NOON + 10)
  })

  it.each([new Date(NOON), NOON, '2030-01-01T12:00:00Z', '2030-01-01T12:00:00.000Z', '2030-01-01T14:00+02:00'])(
    'is set by %j',
    (moment) => {
      const { clock } = running(0)
      clock.set(moment)
      expect(clock()).toBe(NOON)
    },
  )

  it('is set by a Date from before a test runner made its own, and by one from after', () => {
    const { clock } = running()
    const real = new Date('2035-01-01')
    vi.useFakeTimers({ toFake: ['Date'] })
    clock.set(real)
    expect(clock()).toBe(Date.parse('2035-01-01'))
    clock.set(new Date('2036-01-01'))
    expect(clock()).toBe(Date.parse('2036-01-01'))
  })

  it.each([
    ['seconds', 1_893_456_000, 'Did you pass seconds?'],
    ['a Date that is none', new Date('later'), 'but is an object'],
    ['a word', 'tomorrow', 'but is a string of 8 characters'],
    ['a moment without its time zone', '2030-01-01T12:00:00', 'clock.set: the moment must be a Date'],
    ['a day that is none', '2030-13-01', 'clock.set: the moment must be a Date'],
    ['a time before 1972', '1971-12-31', 'from 1972 to 9998'],
    ['a time after 9998', Date.UTC(9999, 0), 'from 1972 to 9998'],
    ['nothing', undefined, 'but is missing'],
    ['NaN', Number.NaN, 'but is a number'],
  ])('is not set by %s, and goes on as it was', (_, moment, says) => {
    const { clock } = running()
    expectMisuse(() => clock.set(moment as never), says)
    expect(clock()).toBe(NOON)
  })

  it.each([
    ['milliseconds', 3_600_000, 'Did you pass milliseconds'],
    ['a time without a unit', '60', 'needs a unit'],
    ['a way back', -1, 'clock.advance: the time must be'],
    ['nothing', undefined, 'but is missing'],
    ['eleven years', '11 years', 'to 3660 days'],
  ])('does not go ahead by %s', (_, time, says) => {
    const { clock } = running()
    expectMisuse(() => clock.advance(time as never), says)
    expect(clock()).toBe(NOON)
  })
})

it('names the scopes of an account that has a "scope"', () => {
  const account = { id: 'acc-1', scope: 'reports:read' }
  expect(() => createTestIssuer().bearer(account)).toThrow('Did you mean "scopes"?')
})
