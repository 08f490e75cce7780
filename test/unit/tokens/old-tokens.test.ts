// Tests tokens/{old-tokens,token-verifier,create-verifier}.ts

import { createPublicKey } from 'node:crypto'
import {
  type AuthError,
  authOf,
  createAuth,
  type GuardedRequest,
  memoryStore,
  type OldTokensOptions,
  oldTokens,
  type RequireBearerOptions,
  requireBearer,
} from 'express-token-endpoint'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectInvalidToken, expectMisuse, rejectionOf } from '../../support/failures.js'
import {
  forge,
  frozenClock,
  ISSUER,
  issueNow,
  makeIssuer,
  makeStore,
  SECRET,
  signingKey,
} from '../../support/fixtures.js'
import { createSessions, memorySessions } from '../../support/sessions.js'
import { partsOf, withOtherSignature } from '../../support/tokens.js'

const clock = frozenClock()
const HOUR = 3_600_000
const until = new Date(clock() + 24 * HOUR)
const now = clock.seconds()
const keys = { alg: 'HS256', secret: 'shhh' } as const
const good: OldTokensOptions = { keys, accountId: ({ id }) => id, until, clock }
const old = oldTokens(good)
const payload = { id: 'acc-1', iat: now, exp: now + 3600 }
const header = { alg: 'HS256', typ: 'JWT' }
const write = (claims: object = {}, head: object = {}, secret = 'shhh', alg = 'HS256') =>
  forge({ ...header, ...head }, { ...payload, ...claims }, secret, alg)
const issuer = makeIssuer({ clock })

/** Asks a guard about a token. Returns the verified token, or the code and the reason of the refusal. */
async function ask(text: string, options: Partial<RequireBearerOptions> = {}) {
  const authorization = `Bearer ${text}`
  const req = { headers: { authorization }, rawHeaders: ['Authorization', authorization], url: '/' }
  try {
    await requireBearer({ tokens: [issuer, old], ...options }).authenticate(req as unknown as GuardedRequest)
    return authOf(req)
  } catch (error) {
    const { code, reason } = error as AuthError
    return { refused: reason ? `${code}: ${reason}` : code }
  }
}

describe('an old token', () => {
  it('is verified with the claims of the old code, and without a session', async () => {
    const text = write({ role: 'admin', sid: 'a-session', sub: 'someone else' })
    expect(await old.verify(text)).toEqual({
      id: expect.stringMatching(/^[\w-]{43}$/),
      accountId: 'acc-1',
      issuer: 'old-tokens',
      audience: '',
      clientId: undefined,
      scopes: [],
      sessionId: undefined,
      issuedAt: new Date(now * 1000),
      expiresAt: new Date((now + 3600) * 1000),
      claims: { id: 'acc-1', role: 'admin', sid: 'a-session' },
    })
  })

  it('has the jti and the aud of the old code, where they are texts', async () => {
    expect(old).toMatchObject({ issuer: 'old-tokens', audience: '' })
    expect(await old.verify(write({ jti: 'id-1', aud: 'my-page' }))).toMatchObject({ id: 'id-1', audience: 'my-page' })
    const other = await old.verify(write({ jti: 7, aud: ['my-page'] }))
    expect(other).toMatchObject({ id: expect.stringMatching(/^[\w-]{43}$/), audience: '' })
  })

  it.each([
    ['no typ', {}, { typ: undefined }],
    ['a typ in small letters', {}, { typ: 'jwt' }],
    ['a kid that the old code wrote', {}, { kid: 'main' }],
    ['an iss and an aud of the old code', { iss: 'my-app', aud: 'my-page' }, {}],
    ['the issuer of oldTokens as iss', { iss: 'old-tokens' }, {}],
    ['a number as the id', { id: 7 }, {}],
  ])('is admitted next to new tokens: %s', async (_what, claims, head) => {
    expect(await ask(write(claims, head))).toMatchObject({
      issuer: 'old-tokens',
      accountId: expect.stringMatching(/^(acc-1|7)$/),
    })
    expect(await ask(issueNow(issuer, { accountId: 'acc-2' }).token)).toMatchObject({
      issuer: ISSUER,
      accountId: 'acc-2',
    })
  })

  it.each([
    ['fractions of seconds', { iat: now - 0.5, exp: now + 9.5, nbf: now - 0.25 }, now - 1],
    ['an iat in milliseconds, and no exp', { iat: (now - 60) * 1000, exp: undefined }, now - 60],
    ['an iat of a machine whose clock is ahead', { iat: now + 5 }, now + 5],
    ['an iat of a machine whose clock is a minute ahead', { iat: now + 60 }, now + 60],
  ])('is admitted with times that old code writes: %s', async (_what, claims, issuedAt) => {
    expect(await ask(write(claims))).toMatchObject({ accountId: 'acc-1', issuedAt: new Date(issuedAt * 1000) })
  })

  it.each([
    ['an exp that has passed by a fraction', { iat: now - 9, exp: now - 0.5 }, 'expired'],
    ['an nbf in the future', { nbf: now + 0.5 }, 'not_yet_valid'],
    ['an exp before its iat', { exp: now - 10 }, 'expired'],
    ['a text as exp', { exp: '9999999999' }, 'claims'],
    ['no number as exp', { exp: null }, 'claims'],
    ['a negative exp', { exp: -1 }, 'claims'],
    ['a text as iat, of a clock that is ahead', { iat: `${now + 5}` }, 'claims'],
    ['an exp that has passed, and an iat of a clock that is ahead', { iat: now + 5, exp: now - 10 }, 'expired'],
    ['an iat in the year 5138', { iat: 1e11, exp: 1e11 + 1 }, 'not_yet_valid'],
  ])('is refused with %s', async (_what, claims, reason) => {
    expect(await ask(write(claims))).toEqual({ refused: `invalid_token: ${reason}` })
  })

  it('has scopes when the host reads them from the claims', async () => {
    const tokens = oldTokens({ ...good, scopes: ({ role }) => (role === 'admin' ? ['admin'] : undefined) })
    const options = { tokens: [issuer, tokens], scope: 'admin' }
    expect(await ask(write({ role: 'admin' }), options)).toMatchObject({ scopes: ['admin'] })
    expect(await ask(write({ scope: 'admin' }), options)).toEqual({ refused: 'insufficient_scope' })
  })

  it('is refused at its exp, and from `until` on, also from the cache', async () => {
    const moving = frozenClock()
    const tokens = oldTokens({ ...good, clock: moving })
    const [short, long, endless] = [write(), write({ exp: now + 9e6 }), write({ exp: undefined })]
    for (const text of [short, long, endless]) await tokens.verify(text)
    expect((await tokens.verify(endless)).expiresAt).toEqual(until)
    expect((await tokens.verify(long)).expiresAt).toEqual(until)
    moving.advance(HOUR)
    await expectInvalidToken(tokens.verify(short), 'expired')
    moving.advance(23 * HOUR - 1)
    for (const text of [long, endless]) await tokens.verify(text)
    moving.advance(1)
    for (const text of [long, endless, write({ iat: undefined, exp: undefined })])
      await expectInvalidToken(tokens.verify(text), 'expired')
  })

  it('needs no session, and none of its claims name one', async () => {
    const store = memorySessions()
    const sessions = createSessions(store, { clock, issuers: [issuer.issuer] })
    await sessions.start({ id: 'a-session', accountId: 'acc-1', expiresAt: until })
    const options = { tokens: [issuer, old], store: { sessions: store } }
    expect(await ask(write({ sid: 'a-session', jti: 'a-session' }), options)).toMatchObject({ sessionId: undefined })
    const auth = await old.verify(write({ sid: 'a-session', jti: 'a-session' }))
    expect(await sessions.end(auth, 'a-session')).toBe(false)
    // A new token still needs its session.
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    expect(await ask(token, options)).toEqual({ refused: 'invalid_token: revoked' })
  })

  describe('with sessionId', () => {
    const start = async () => {
      const store = memoryStore()
      const sessions = createSessions(store.sessions, { clock, issuers: [ISSUER, 'old-tokens'] })
      for (const [id, accountId] of [
        ['s1', 'acc-1'],
        ['7', 'acc-1'],
        ['s2', 'acc-2'],
      ] as const)
        await sessions.start({ id, accountId, expiresAt: until })
      return { store, sessions }
    }
    const withSession = oldTokens({ ...good, sessionId: ({ sid }) => sid })

    it('belongs to its session, and ends with it', async () => {
      const { store, sessions } = await start()
      const options = { tokens: [issuer, withSession], store }
      expect(await ask(write({ sid: 's1' }), options)).toMatchObject({ sessionId: 's1', issuer: 'old-tokens' })
      expect(await ask(write({ sid: 7 }), options)).toMatchObject({ sessionId: '7' })
      const refused = { refused: 'invalid_token: revoked' }
      // The second one is of another account, which is a mistake of the client's token and not of the store.
      for (const sid of ['none', 's2']) expect(await ask(write({ sid }), options)).toEqual(refused)
      const auth = await withSession.verify(write({ sid: 's1' }))
      expect(await sessions.end(auth, 's1')).toBe(true)
      expect(await ask(write({ sid: 's1' }), options)).toEqual(refused)
    })

    it('can be ended by the sessions of an app that accepts the tokens', async () => {
      const auth = createAuth({
        issuer: ISSUER,
        keys: signingKey('HS256'),
        accounts: () => undefined,
        store: memoryStore(),
        alsoAccept: [withSession],
        clock,
      })
      await auth.sessions.start({ id: 's1', accountId: 'acc-1', expiresAt: until })
      const old = await withSession.verify(write({ sid: 's1' }))
      expect(await auth.sessions.isEnded(old)).toBe(false)
      expect(await auth.sessions.end(old, 's1')).toBe(true)
    })

    it('has no session in an app whose old tokens name none, although its jti is the id of one', async () => {
      const store = memoryStore()
      const app = { issuer: ISSUER, keys: signingKey('HS256'), accounts: () => undefined, store, clock }
      const auth = createAuth({ ...app, alsoAccept: [old] })
      await auth.sessions.start({ id: 's1', accountId: 'acc-1', expiresAt: until })
      const token = await old.verify(write({ jti: 's1' }))
      expect(await auth.sessions.isEnded(token)).toBe(true)
      expect(await auth.sessions.end(token, 's1')).toBe(false)
      expect(await auth.sessions.list('acc-1')).toHaveLength(1)
    })

    it('passes without a session where the function returns undefined, and is refused with another value', async () => {
      const options = { tokens: [issuer, withSession], store: (await start()).store }
      expect(await ask(write({ jti: 's1' }), options)).toMatchObject({ sessionId: undefined })
      for (const sid of [null, '', true, 1.5])
        expect(await ask(write({ sid }), options)).toEqual({ refused: 'invalid_token: claims' })
      expect(await ask(write({ sid: { id: 's1' } }), options)).toEqual({ refused: 'unavailable' })
      const late = oldTokens({ ...good, sessionId: async () => 's1' })
      expect(await ask(write(), { tokens: [issuer, late] })).toEqual({ refused: 'unavailable' })
    })
  })

  it('is refused by isRevoked, and by the account: disabled, gone, or with another password since', async () => {
    expect(await ask(write(), { isRevoked: () => true })).toEqual({ refused: 'invalid_token: revoked' })
    const accountOf = (change: object) => {
      const account = { id: 'acc-1', email: 'a@b.c', passwordHash: null, ...change }
      return ask(write(), { accounts: makeStore([account]) })
    }
    expect(await accountOf({})).toMatchObject({ accountId: 'acc-1' })
    expect(await accountOf({ disabled: true })).toEqual({ refused: 'invalid_token: account_disabled' })
    expect(await accountOf({ id: 'acc-2' })).toEqual({ refused: 'invalid_token: unknown_account' })
    const tokensValidAfter = new Date(clock() + 1000)
    expect(await accountOf({ tokensValidAfter })).toEqual({ refused: 'invalid_token: superseded' })
    const noTime = await ask(write({ iat: undefined }), {
      accounts: makeStore([{ id: 'acc-1', email: 'a@b.c', passwordHash: null, tokensValidAfter: new Date(1) }]),
    })
    expect(noTime).toEqual({ refused: 'invalid_token: superseded' })
  })

  it('is no recent sign-in without auth_time, because the old code may have refreshed it', async () => {
    expect(await ask(write(), { signedInWithin: '1h' })).toEqual({ refused: 'insufficient_user_authentication' })
  })

  it.each([
    ['at its issue', now, true],
    ['before its issue', now - 3599, true],
    ['in a fraction of the second of its issue', now + 0.5, true],
    ['too long ago', now - 3601, false],
    ['after its issue', now + 1, false],
    ['in milliseconds', (now - 9999) * 1000, false],
    ['as text', `${now}`, false],
    ['null', null, false],
  ])('is a recent sign-in by an auth_time %s: %s', async (_what, time, isRecent) => {
    const refused = { refused: 'insufficient_user_authentication' }
    const expected = isRecent ? { accountId: 'acc-1' } : refused
    expect(await ask(write({ auth_time: time }), { signedInWithin: '1h' })).toMatchObject(expected)
  })
})

describe('a forged old token', () => {
  const publicKey = createPublicKey(signingKey('RS256').privateKey as string).export({ type: 'spki', format: 'pem' })
  const unsigned = (alg: string) => `${partsOf(write({}, { alg })).header}.${partsOf(write()).payload}.`
  it.each([
    ['another secret', write({}, {}, 'guess'), 'signature'],
    ['the signature of another token', withOtherSignature(write()), 'signature'],
    ['HS512 with the right secret', write({}, { alg: 'HS512' }, 'shhh', 'HS512'), 'algorithm'],
    ['RS256 in its header', write({}, { alg: 'RS256' }), 'algorithm'],
    ['a public key as the secret', write({}, {}, String(publicKey)), 'signature'],
    ['alg none without a signature', unsigned('none'), 'malformed'],
    ['alg None without a signature', unsigned('None'), 'malformed'],
    ['alg none with the right signature', write({}, { alg: 'none' }), 'algorithm'],
    ['no alg', write({}, { alg: undefined }), 'algorithm'],
    ['the type of a new token', write({}, { typ: 'at+jwt' }), 'type'],
    ['the whole type of a new token', write({}, { typ: 'application/at+jwt' }), 'type'],
    ['a critical header', write({}, { crit: ['b64'] }), 'critical_header'],
    ['no account', write({ id: undefined }), 'claims'],
    ['an empty account', write({ id: '' }), 'claims'],
    ['half an account', write({ id: 1.5 }), 'claims'],
    ['true as the account', write({ id: true }), 'claims'],
    ['null as the account', write({ id: null }), 'claims'],
    ['an exp as text', write({ exp: `${now + 60}` }), 'claims'],
    ['null as the exp', write({ exp: null }), 'claims'],
    ['an iat in the future', write({ iat: now + 61 }), 'not_yet_valid'],
    ['an nbf in the future', write({ nbf: now + 1 }), 'not_yet_valid'],
    ['an exp that has passed', write({ iat: now - 9, exp: now }), 'expired'],
    ['claims in a list', forge(header, [payload], 'shhh'), 'claims'],
    ['null in place of claims', forge(header, 'null', 'shhh'), 'claims'],
    ['no JWT', 'shhh', 'malformed'],
  ] as const)('is refused: %s', async (_what, text, reason) => {
    await expectInvalidToken(old.verify(text), reason)
    expect(await ask(text)).toEqual({ refused: `invalid_token: ${reason}` })
  })

  it('does not become a new token by the name of its issuer, whatever else it says', async () => {
    const claims = { iss: ISSUER, aud: ISSUER, sub: 'acc-1', client_id: ISSUER, jti: 'a' }
    for (const typ of ['at+jwt', 'JWT'])
      expect(await ask(write(claims, { typ }))).toEqual({
        refused: `invalid_token: ${typ === 'JWT' ? 'type' : 'unknown_key'}`,
      })
    expect(await ask(write(claims, { typ: 'at+jwt', kid: 'k1' }))).toEqual({ refused: 'invalid_token: signature' })
  })
})

describe('a new token', () => {
  // The worst case: the new issuer has the secret of the old code.
  const same = oldTokens({ ...good, keys: { alg: 'HS256', secret: SECRET }, accountId: ({ sub }) => sub })

  it('is never an old one, also of another environment with the same secret', async () => {
    for (const one of [issuer, makeIssuer({ clock, issuer: 'https://staging.example.com' })]) {
      const { token } = issueNow(one, { accountId: 'acc-1' })
      await expectInvalidToken(same.verify(token), 'type')
      const refused = one === issuer ? { issuer: ISSUER } : { refused: 'invalid_token: type' }
      expect(await ask(token, { tokens: [issuer, same] })).toMatchObject(refused)
    }
  })

  it('is refused by the old issuer in another order of the list too', async () => {
    expect(await ask(issueNow(issuer, { accountId: 'acc-1' }).token, { tokens: [same, issuer] })).toMatchObject({
      issuer: ISSUER,
    })
  })
})

describe('the options of oldTokens', () => {
  it.each([
    [
      'no secret',
      { keys: { alg: 'HS256', secret: undefined } },
      /^oldTokens: option "keys".secret is missing. Is an environment variable not set/,
    ],
    ['no keys', { keys: undefined }, /^oldTokens: option "keys" must be \{ alg, secret \}/],
    ['an empty secret', { keys: { alg: 'HS256', secret: '' } }, /is an empty string.*environment variable/],
    [
      'a public key as the secret',
      { keys: { alg: 'HS256', secret: `-----BEGIN PUBLIC KEY-----` } },
      /option "keys".secret must be the secret of the old tokens.*Did you mean "privateKey" or "publicKey"/,
    ],
    ['a private key', { keys: { alg: 'RS256', privateKey: 'x' } }, /option "keys" must not contain a "privateKey"/],
    [
      'a secret and a key pair',
      { keys: [keys, { alg: 'RS256', publicKey: createPublicKey(signingKey('RS256').privateKey as string) }] },
      /must be all secrets or all key pairs/,
    ],
    [
      'a short secret of another algorithm name',
      { keys: { alg: 'none', secret: 'shhh' } },
      /option "alg" must be one of/,
    ],
    ['a text as sessionId', { sessionId: 'sid' }, /option "sessionId" must be a function \(claims\) => sessionId/],
    ['more than a minute of tolerance', { clockTolerance: '2m' }, /option "clockTolerance" must be/],
    ['no accountId', { accountId: undefined }, /option "accountId" must be a function/],
    ['no until', { until: undefined }, /option "until" must be a valid Date/],
    ['a text as until', { until: '2030-01-31' }, /option "until" must be a valid Date/],
    ['an invalid until', { until: new Date('tomorrow') }, /option "until" must be a valid Date/],
    ['a text as scopes', { scopes: 'admin' }, /option "scopes" must be a function \(claims\) => scopes/],
    ['a secret', { secret: 'shhh' }, /Did you mean "keys"/],
    ['sub', { sub: () => 'x' }, /Did you mean "accountId"/],
  ])('are checked: %s', (_what, change, message) => {
    expectMisuse(() => oldTokens({ ...good, ...change } as never), message)
  })

  it('take bytes as the secret', async () => {
    const secret = Buffer.from('shhh')
    expect(await oldTokens({ ...good, keys: { alg: 'HS256', secret } }).verify(write())).toMatchObject({
      accountId: 'acc-1',
    })
  })

  it.each([
    ['a promise', async () => 'acc-1'],
    ['a rejected promise', () => Promise.reject(new Error('down'))],
    ['an object', () => ({ id: 1 })],
    [
      'an error',
      () => {
        throw new Error('down')
      },
    ],
  ])('let no token in when accountId returns %s', async (_what, accountId) => {
    const tokens = oldTokens({ ...good, accountId })
    expect(await rejectionOf(tokens.verify(write()))).toBeInstanceOf(Error)
    expect(await ask(write(), { tokens: [issuer, tokens] })).toEqual({ refused: 'unavailable' })
  })

  it.each([
    ['accountId', async () => 'acc-1', /^oldTokens: "accountId" must return a string or a whole number, not a promise/],
    ['sessionId', () => ({}), /^oldTokens: "sessionId" must return a string or a whole number, not a promise/],
    ['scopes', () => 'admin', /^oldTokens: "scopes" must return an array of scope tokens/],
  ])('are named by the error when %s returns another value', async (name, read, message) => {
    const error = await rejectionOf(oldTokens({ ...good, [name]: read }).verify(write()))
    expectMisuse(() => {
      throw error
    }, message)
  })

  it('warn once, in production, of an end in more than 90 days', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => void vi.restoreAllMocks())
    onTestFinished(() => void vi.unstubAllEnvs())
    const endIn = (milliseconds: number, environment: string) => {
      vi.stubEnv('NODE_ENV', environment)
      oldTokens({ ...good, until: new Date(clock() + milliseconds) })
    }
    const days = 90 * 24 * HOUR
    endIn(days, 'production')
    endIn(days + 1, 'test')
    expect(warned).not.toHaveBeenCalled()
    for (const _ of 'ab') endIn(days + 1, 'production')
    const says =
      /^oldTokens\(\) accepts tokens from your old code for more than 90 days.* See express-token-endpoint\/docs\/\S+\.md$/
    expect(warned.mock.calls).toEqual([[expect.stringMatching(says), 'ExpressTokenEndpointWarning']])
    expect(String(warned.mock.calls)).not.toContain('shhh')
  })

  it('are one for each guard, because a second secret would never be asked', () => {
    expectMisuse(() => requireBearer({ tokens: [issuer, old, oldTokens(good)] }), /verifiers with different issuers/)
  })
})
