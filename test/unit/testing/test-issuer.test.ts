import express from 'express'
import {
  type Account,
  type AuthEvent,
  authOf,
  createTokenIssuer,
  createTokenVerifier,
  jwksRouter,
  type MemoryAccount,
  memoryAccounts,
  type RequireBearerOptions,
  remoteKeys,
  requireBearer,
  type TokenRefusal,
  type TokenVerifier,
  tokenRouter,
} from 'express-token-endpoint'
import {
  createTestIssuer,
  fastPasswords,
  type TestIssuer,
  type TestIssuerOptions,
} from 'express-token-endpoint/testing'
import fc from 'fast-check'
import request from 'supertest'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { syncVerifierOf } from '../../../src/tokens/sync-verifier.js'
import { expectInvalidToken, expectMisuse } from '../../support/failures.js'
import { ALGORITHMS, ISSUER, PASSWORD, SECRET, signingKey } from '../../support/fixtures.js'
import { listen, TOKEN_PATH } from '../../support/http.js'

const ALICE: Account = {
  id: 'acc-1',
  passwordHash: null,
  scopes: ['reports:read', 'reports:write'],
  claims: { plan: 'free' },
}

/** Creates an app with a guard for a verifier. Collects the events. */
function createApp({ tokens, ...options }: Partial<RequireBearerOptions> & { tokens: TokenVerifier }) {
  const events: AuthEvent[] = []
  const app = express()
  app.use(requireBearer({ tokens, onEvent: (event) => events.push(event), ...options }))
  app.get('/me', (req, res) => void res.json(authOf(req)))
  return { app, events }
}

/** Sends a request to a guard. Returns the response and the event. */
async function outcome({ app, events }: ReturnType<typeof createApp>, headers: { Authorization: string }) {
  const { status, headers: answer } = await request(app).get('/me').set(headers)
  const [event] = events.splice(0)
  return { status, challenge: answer['www-authenticate'], event }
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

  it('fits the headers of fetch', async () => {
    const { tokens, bearer } = createTestIssuer()
    const { url } = await listen(createApp({ tokens }).app)
    expect((await fetch(`${url}/me`, { headers: bearer(ALICE) })).status).toBe(200)
    expect((await fetch(`${url}/me`, { headers: { ...bearer(ALICE), Accept: 'text/html' } })).status).toBe(200)
  })

  it('lets any account in, whatever its id, scopes and claims', async () => {
    const { tokens, bearer } = createTestIssuer()
    const { server } = await listen(createApp({ tokens }).app)
    const letter = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
    const scope = fc.string({ unit: letter.filter((one) => !/["\\]/.test(one)), minLength: 1 })
    const name = fc.string().map((text) => `x-${text}`)
    const account = fc.record({
      id: fc.string({ unit: 'binary', minLength: 1 }),
      scopes: fc.array(scope),
      claims: fc.dictionary(name, fc.jsonValue()),
    })
    await fc.assert(
      fc.asyncProperty(account, async ({ id, scopes, claims }) => {
        const { body } = await request(server).get('/me').set(bearer({ id, scopes, claims })).expect(200)
        expect(body).toMatchObject(JSON.parse(JSON.stringify({ accountId: id, scopes, claims })))
      }),
      { numRuns: 50 },
    )
  })

  it.each([
    ['nothing', undefined, 'is missing'],
    ['an account that was not found', null, 'is null'],
    ['a look-up that was not waited for', Promise.resolve(ALICE), 'is a Promise (is an "await" missing?)'],
    ['a number for an id', { id: 7 }, 'Its "id" must be a string'],
    ['a number', 7, 'is 7'],
    ['a list', [ALICE], 'is an array'],
  ])('refuses %s', (_, account, says) => {
    const { bearer, issue, refused } = createTestIssuer()
    for (const make of [bearer, issue, refused.expired]) {
      const error = () => make(account as never)
      expectMisuse(error, "the account of a test token must be an account's id, or an account { id, scopes?, claims? }")
      expectMisuse(error, says)
    }
  })

  it('refuses what is no scope, as every issuer does', () => {
    const { bearer } = createTestIssuer()
    expectMisuse(() => bearer({ id: 'acc-1', scopes: ['two words'] }), 'issue: "scopes"')
    expectMisuse(() => bearer(''), 'issue: "accountId"')
  })
})

describe('issue', () => {
  it('tells what a test may want to know', async () => {
    const { tokens, issue, clock } = createTestIssuer({ lifetime: '10m' })
    clock.set('2030-01-01T12:00:00Z')
    const { token, id, expiresAt, headers } = issue(ALICE)
    expect(headers).toEqual({ Authorization: `Bearer ${token}` })
    expect(expiresAt.toISOString()).toBe('2030-01-01T12:10:00.000Z')
    expect(await tokens.verify(token)).toMatchObject({ id, accountId: 'acc-1', expiresAt })
  })
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
} as const satisfies Record<keyof TestIssuer['refused'], string>

const FAULTS = Object.entries(REASONS) as [keyof typeof REASONS, TokenRefusal][]

describe('refused', () => {
  it('has these faults', () => {
    expect(Object.keys(createTestIssuer().refused)).toEqual(Object.keys(REASONS))
  })

  it.each(FAULTS)(
    '%s: by guards and verifiers, whatever the options, the account and the moment, for the reason %s',
    async (fault, reason) => {
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
    },
  )

  it('notYetValid: is good two minutes later', async () => {
    const { tokens, clock, refused } = createTestIssuer()
    clock.set('2030-01-01')
    const token = tokenOf(refused.notYetValid(ALICE))
    clock.advance('119s')
    await expectInvalidToken(tokens.verify(token), 'not_yet_valid')
    clock.advance('1s')
    expect(await tokens.verify(token)).toMatchObject({ accountId: 'acc-1', scopes: ALICE.scopes })
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

it('a guard refuses a token that was revoked, by its id', async () => {
  const { tokens, issue, bearer } = createTestIssuer()
  const revoked = new Set<string>()
  const app = createApp({ tokens, isRevoked: ({ id }) => revoked.has(id) })
  const { headers, id } = issue(ALICE)
  expect((await outcome(app, headers)).status).toBe(200)
  revoked.add(id)
  expect(await outcome(app, headers)).toMatchObject({ status: 401, event: { reason: 'revoked', tokenId: id } })
  expect((await outcome(app, bearer(ALICE))).status).toBe(200)
})

it('a guard refuses a token from before the account was changed, but not one from after', async () => {
  const { tokens, bearer, clock } = createTestIssuer()
  clock.set('2030-01-01T12:00:00Z')
  const alice: MemoryAccount = { ...ALICE, email: 'alice@example.com' }
  const app = createApp({ tokens, accounts: memoryAccounts([alice]) })
  const before = bearer(alice)
  clock.advance('1s')
  alice.tokensValidAfter = new Date(clock())
  expect(await outcome(app, before)).toMatchObject({ status: 401, event: { reason: 'superseded' } })
  expect((await outcome(app, bearer(alice))).status).toBe(200)
})

describe('the issuer', () => {
  it('is asked by guards as any other: by its quick path', () => {
    expect(syncVerifierOf(createTestIssuer().tokens)).toBeDefined()
    expect(Object.keys(createTestIssuer().tokens)).toEqual(
      Object.keys(createTokenIssuer({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET } })),
    )
  })

  it('issues and verifies by the clock: a login, and its end', async () => {
    const { tokens, clock } = createTestIssuer({ lifetime: '30m' })
    const passwords = fastPasswords()
    const alice = { ...ALICE, email: 'alice@example.com', passwordHash: await passwords.hash(PASSWORD) }
    const { app } = createApp({ tokens })
    const login = express().use(tokenRouter({ tokens, passwords, accounts: memoryAccounts([alice]) }))
    clock.set('2030-01-01T12:00:00Z')
    const { body } = await request(login).post(TOKEN_PATH).send({ email: alice.email, password: PASSWORD }).expect(200)
    expect(body.expiration).toBe('2030-01-01T12:30:00.000Z')
    const me = () => request(app).get('/me').auth(body.authenticationToken, { type: 'bearer' })
    clock.advance('29m')
    clock.advance('59.999s')
    await me().expect(200)
    clock.advance('1ms')
    await me().expect(401)
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

  it('has its public keys followed by remoteKeys', async () => {
    const { tokens, bearer, refused } = createTestIssuer({ issuer: ISSUER })
    const { url } = await listen(express().use(jwksRouter({ tokens })))
    const verifier = createTokenVerifier({ issuer: ISSUER, keys: remoteKeys(`${url}/.well-known/jwks.json`) })
    const app = createApp({ tokens: verifier })
    expect((await outcome(app, bearer(ALICE))).status).toBe(200)
    for (const [fault, reason] of FAULTS) {
      expect(await outcome(app, refused[fault](ALICE)), fault).toMatchObject({ status: 401, event: { reason } })
    }
  })

  it.each([
    [{ expiresIn: '1h' }, 'createTestIssuer: unknown option "expiresIn". Did you mean "lifetime"?'],
    [{ now: Date.now }, 'createTestIssuer: unknown option "now". Did you mean "clock"?'],
    [{ issuer: 'api.example.com' }, 'createTestIssuer: option "issuer" must be'],
    [{ lifetime: 0 }, 'createTestIssuer: option "lifetime" must be'],
    [{ keys: null }, 'createTestIssuer: option "keys" must be'],
    [{ keys: [{ alg: 'HS256', secret: 'short' }] }, `createTestIssuer: option "keys[0]".secret must be`],
    [{ keys: remoteKeys(`${ISSUER}/keys`) }, 'createTestIssuer: option "keys" must hold a key that signs'],
    [{ clock: 'now' }, 'createTestIssuer: option "clock" must be'],
  ])('refuses options that cannot be used: %o', (options, says) => {
    expectMisuse(() => createTestIssuer(options as never), says)
  })

  it('is not for production', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expectMisuse(() => createTestIssuer(), 'createTestIssuer: is only for tests, but NODE_ENV is "production"')
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
