// Tests tokens/verifier.ts

import {
  AuthError,
  type AuthEvent,
  authOf,
  type CustomTokenVerifier,
  closeWhenEnded,
  createTokenVerifier,
  type GuardedRequest,
  memoryStore,
  oldTokens,
  type RequireBearerOptions,
  remoteKeys,
  requireBearer,
  type TokenVerifier,
} from 'express-token-endpoint'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as signature from '../../../src/tokens/jwt/signature.js'
import { recentTexts } from '../../../src/tokens/verified-cache.js'
import { type Verifier, verifierOf } from '../../../src/tokens/verifier.js'
import * as lists from '../../../src/tokens/verifiers.js'
import { expectMisuse } from '../../support/failures.js'
import { forge, frozenClock, goodParts, issueNow, makeIssuer, signingKey } from '../../support/fixtures.js'
import { encode, partsOf, withOtherSignature } from '../../support/tokens.js'

vi.mock('../../../src/tokens/jwt/signature.js', { spy: true })
vi.mock('../../../src/tokens/verified-cache.js', { spy: true })
const checked = vi.mocked(signature.isSignedBy)
beforeEach(() => void checked.mockClear())

const OLD = 'https://old.example.com'
const NEW = 'https://new.example.com'
const FAR = 'https://far.example.com'
const old = makeIssuer({ issuer: OLD })
// The same key and `kid`: only `iss` tells the tokens apart.
const renewed = makeIssuer({ issuer: NEW })
const severalVerifiers = (list: readonly TokenVerifier[]) =>
  lists.severalVerifiers(list.map((tokens) => verifierOf(tokens) as Verifier))
const tokenOf = (issuer = old, subject = {}) => issueNow(issuer, { accountId: 'acc-1', ...subject }).token

function requestWith(text: string) {
  const authorization = `Bearer ${text}`
  return {
    headers: { authorization },
    rawHeaders: ['Authorization', authorization],
    url: '/',
  } as unknown as GuardedRequest
}

/** Asks a guard about a token. Returns the issuer of the admitted token, or the refusal, and the events. */
async function ask(text: string, options: Partial<RequireBearerOptions> = {}) {
  const events: AuthEvent[] = []
  const req = requestWith(text)
  const guard = requireBearer({ tokens: [old, renewed], onEvent: (event) => events.push(event), ...options })
  try {
    await guard.authenticate(req)
    return { issuer: authOf(req).issuer, events }
  } catch (error) {
    const { code, reason, headers } = error as AuthError
    return { refused: reason ? `${code}: ${reason}` : code, challenge: headers['WWW-Authenticate'], events }
  }
}

/** A verifier of the host's own. */
function custom(verify: (text: string) => unknown, issuer = FAR): TokenVerifier {
  return { issuer, audience: issuer, verify: verify as TokenVerifier['verify'] }
}
const ownToken = { id: 'a', accountId: 'far-1', scopes: [], issuedAt: new Date(), expiresAt: new Date(9e12) }
const farToken = () => forge(goodParts().header, { ...goodParts().payload, iss: FAR })

describe('a guard with several verifiers', () => {
  it.each([
    [OLD, old],
    [NEW, renewed],
  ])('admits the tokens of %s, the first time and from the cache', async (issuer, verifier) => {
    const text = tokenOf(verifier)
    for (let i = 0; i < 3; i++) expect(await ask(text)).toEqual({ issuer, events: [] })
    expect(checked).toHaveBeenCalledOnce()
  })

  it('refuses another issuer without a look at the signature, a fetch or a call of the host', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const verify = vi.fn()
    const remote = createTokenVerifier({ issuer: NEW, keys: remoteKeys('https://new.example.com/keys') })
    const { refused, events } = await ask(tokenOf(makeIssuer({ issuer: 'https://evil.example' })), {
      tokens: [old, remote, custom(verify)],
    })
    expect(refused).toBe('invalid_token: issuer')
    expect(events).toEqual([
      { type: 'bearer.refused', code: 'invalid_token', reason: 'issuer', time: expect.any(Date) },
    ])
    for (const work of [checked, fetched, verify]) expect(work).not.toHaveBeenCalled()
    fetched.mockRestore()
  })

  const payloadOf = (payload: unknown) => [encode({}), encode(payload), 'c2ln'].join('.')
  it.each([
    ['no JWT', 'x'],
    ['no JSON', ['e30', 'YQ', 'c2ln'].join('.')],
    ['bytes that are not UTF-8', ['e30', '_w', 'c2ln'].join('.')],
    ['no iss', payloadOf({})],
    ['a list of issuers', payloadOf({ iss: [OLD] })],
    ['an object with the text of an issuer', payloadOf({ iss: { toString: OLD } })],
    ['claims in a list', payloadOf([{ iss: OLD }])],
  ])('refuses %s as malformed', async (_what, text) => {
    expect(await ask(text)).toMatchObject({ refused: 'invalid_token: malformed' })
    expect(checked).not.toHaveBeenCalled()
  })

  it('reads no inherited iss', async () => {
    Object.assign(Object.prototype, { iss: OLD })
    onTestFinished(() => void Reflect.deleteProperty(Object.prototype, 'iss'))
    expect(await ask(payloadOf({}))).toMatchObject({ refused: 'invalid_token: malformed' })
  })

  it.each([
    ['a slash at the end', `${OLD}/`],
    ['capital letters', OLD.toUpperCase()],
    ['the name of a member of every object', 'constructor'],
  ])('compares the issuer exactly: %s', async (_what, iss) => {
    const { header, payload } = goodParts()
    expect(await ask(forge(header, { ...payload, iss }))).toMatchObject({ refused: 'invalid_token: issuer' })
  })

  it('refuses a token of one issuer with the key of another', async () => {
    const other = makeIssuer({ issuer: NEW, keys: signingKey('HS256', 'other') })
    const forged = forge({ ...goodParts().header, kid: 'HS256-other' }, { ...goodParts().payload, iss: NEW, aud: NEW })
    expect(await ask(forged, { tokens: [old, other] })).toMatchObject({ refused: 'invalid_token: signature' })
  })

  it('verifies a token again that ends like a cached one', async () => {
    const text = tokenOf()
    const { payload } = partsOf(tokenOf(renewed))
    await ask(text)
    const forged = [partsOf(text).header, payload, partsOf(text).signature].join('.')
    expect(await ask(forged)).toMatchObject({ refused: 'invalid_token: signature' })
    expect(await ask(withOtherSignature(text))).toMatchObject({ refused: 'invalid_token: signature' })
    expect(await ask(text)).toMatchObject({ issuer: OLD })
  })

  it('verifies once in several guards', async () => {
    const text = tokenOf()
    const guards = [requireBearer({ tokens: [old, renewed] }), requireBearer({ tokens: [renewed, old] })]
    for (const { authenticate } of guards) expect(await authenticate(requestWith(text))).toMatchObject({ issuer: OLD })
    expect(checked).toHaveBeenCalledOnce()
  })

  it('looks into the cache of one verifier, and finds it with one look-up', async () => {
    const several = Array.from({ length: 5 }, (_, i) => makeIssuer({ issuer: `https://${i}.example` }))
    const caches = several.map((tokens) => vi.spyOn(verifierOf(tokens) as Verifier, 'cached'))
    const verifiers = severalVerifiers(several)
    const text = tokenOf(several[4])
    expect(verifiers.cached(text)).toBeUndefined()
    const auth = await verifiers.verify(text)
    expect(verifiers.cached(text)).toBe(auth)
    expect(caches.map((cache) => cache.mock.calls.length)).toEqual([0, 0, 0, 0, 1])
  })

  it.each([
    [[5, 7], 12],
    [[5, false], 5],
    [[9_999_999, 1], 10_000_000],
    // A Map that holds more than 16,777,216 entries throws.
    [[10_000_000, 10_000_000], 10_000_000],
  ] as const)('knows the verifiers of as many tokens as the caches %j hold: %i', (sizes, most) => {
    const list = sizes.map((cache, i) => makeIssuer({ issuer: `https://${i}.example`, cache }))
    const created = vi.mocked(recentTexts)
    created.mockClear()
    severalVerifiers(list)
    expect(created.mock.calls).toEqual([[most]])
  })

  it('never reads a token of a verifier without a cache from another cache', async () => {
    const uncached = makeIssuer({ issuer: NEW, cache: false })
    const verifiers = severalVerifiers([old, uncached])
    const [first, second] = [tokenOf(uncached), tokenOf(old)]
    for (const text of [first, second]) await verifiers.verify(text)
    expect([first, second].map((text) => verifiers.cached(text)?.issuer)).toEqual([undefined, OLD])
    checked.mockClear()
    for (let i = 0; i < 2; i++) expect(await ask(first, { tokens: [old, uncached] })).toMatchObject({ issuer: NEW })
    expect(checked).toHaveBeenCalledTimes(2)
  })

  it('takes the time of the issuer, with its tolerance', async () => {
    const clock = frozenClock()
    const past = makeIssuer({ issuer: OLD, clock, clockTolerance: '30s' })
    const text = tokenOf(past, { lifetime: '60s' })
    const options = { tokens: [renewed, past], signedInWithin: '5m', isRevoked: () => false } as const
    expect(await ask(text, options)).toMatchObject({ issuer: OLD })
    clock.advance(89_000)
    expect(await ask(text, options)).toMatchObject({ issuer: OLD })
    clock.advance(1000)
    expect(await ask(text, options)).toMatchObject({ refused: 'invalid_token: expired' })
  })

  it.each([
    ['a revoked token', { isRevoked: () => true }, 'invalid_token: revoked'],
    ['a token without the scope', { scope: 'a' }, 'insufficient_scope'],
    ['an old sign-in', { signedInWithin: '1s' }, 'insufficient_user_authentication'],
  ])('names the issuer in the event of %s', async (_what, options, refused) => {
    const text = tokenOf(renewed, { issuedAt: new Date(Date.now() - 60_000) })
    expect(await ask(text, options)).toMatchObject({ refused, events: [{ issuer: NEW, accountId: 'acc-1' }] })
  })

  it('names the issuer whose keys are unavailable', async () => {
    const onError = () => {}
    const keys = remoteKeys('http://127.0.0.1:1/keys', { onError })
    const remote = createTokenVerifier({ issuer: NEW, keys })
    expect(await ask(tokenOf(renewed), { tokens: [old, remote] })).toMatchObject({
      refused: 'unavailable',
      events: [{ type: 'dependency.failed', dependency: 'keys', issuer: NEW }],
    })
    expect(await ask(tokenOf(old), { tokens: [old, remote] })).toEqual({ issuer: OLD, events: [] })
  })

  it('has the first issuer as its realm', async () => {
    expect(await ask('x', { tokens: [renewed, old] })).toMatchObject({
      challenge: expect.stringContaining(`realm="${NEW}"`),
    })
  })

  it('may have one verifier', async () => {
    expect(await ask(tokenOf(), { tokens: [old] })).toMatchObject({ issuer: OLD })
    expect(await ask(tokenOf(renewed), { tokens: [old] })).toMatchObject({ refused: 'invalid_token: issuer' })
  })
})

describe('a custom verifier with accepts', () => {
  const key = 'acme_0123456789.abc-_~+/=='
  const rows = new Map([[key, { id: 'key-1', accountId: 'machine', scopes: ['a'], issuedAt: new Date(0) }]])
  /** API keys, with the texts that they received. */
  function apiKeys(changes: Partial<CustomTokenVerifier> = {}) {
    const asked: string[] = []
    const verified: string[] = []
    const tokens: CustomTokenVerifier = {
      issuer: 'api-keys',
      accepts(text) {
        asked.push(text)
        return text.startsWith('acme_')
      },
      verify(text) {
        verified.push(text)
        const row = rows.get(text)
        if (!row) throw new AuthError('invalid_token', { reason: 'unknown_key' })
        return row
      },
      ...changes,
    }
    return { tokens: [old, tokens], asked, verified, list: tokens }
  }

  it('admits the texts that it accepts, and is asked on every request, because nothing is cached', async () => {
    const { tokens, verified } = apiKeys()
    for (let i = 0; i < 3; i++) expect(await ask(key, { tokens })).toEqual({ issuer: 'api-keys', events: [] })
    expect(verified).toEqual([key, key, key])
    expect(await ask(tokenOf(), { tokens })).toEqual({ issuer: OLD, events: [] })
    expect(await ask(key, { tokens: tokens[1] as CustomTokenVerifier })).toMatchObject({ issuer: 'api-keys' })
  })

  it('refuses a key from the next request on, when the host has revoked it', async () => {
    const { tokens } = apiKeys()
    await ask(key, { tokens })
    const row = rows.get(key) as never
    rows.delete(key)
    onTestFinished(() => void rows.set(key, row))
    expect(await ask(key, { tokens })).toMatchObject({ refused: 'invalid_token: unknown_key' })
  })

  it.each([
    ['another prefix', 'other_key', 'malformed'],
    ['a token of no known issuer', tokenOf(makeIssuer({ issuer: 'https://evil.example' })), 'issuer'],
    [
      'a JWT that names the verifier as its issuer',
      forge(goodParts().header, { ...goodParts().payload, iss: 'api-keys' }),
      'issuer',
    ],
    ['a JWT without an issuer', forge({ alg: 'HS256' }, { sub: 'x' }), 'malformed'],
    ['a JWT without a signature', `${partsOf(tokenOf()).header}.x`, 'malformed'],
    ['a JWT in another spelling', `e31.${encode({})}.c2ln`, 'malformed'],
    ['an encrypted JWT', [encode({ alg: 'dir', enc: 'A256GCM' }), '', 'a', 'b', 'c'].join('.'), 'malformed'],
    ['a header that is too long to read', `${'a'.repeat(2049)}.b`, 'malformed'],
  ])('is not asked about %s', async (_what, text, reason) => {
    const { tokens, asked, verified } = apiKeys(text === 'other_key' ? {} : { accepts: () => expect.fail('asked') })
    expect(await ask(text, { tokens })).toMatchObject({ refused: `invalid_token: ${reason}` })
    expect([asked.filter((one) => one !== 'other_key'), verified]).toEqual([[], []])
  })

  it('gets no key whose parts name an issuer of the list, because that verifier refuses it', async () => {
    const { tokens, asked } = apiKeys()
    expect(await ask(`acme_.${encode({ iss: OLD })}.x`, { tokens })).toMatchObject({
      refused: 'invalid_token: malformed',
    })
    expect(asked).toEqual([])
  })

  it('leaves old tokens to oldTokens, and API keys to itself', async () => {
    const { tokens, verified } = apiKeys()
    const before = oldTokens({
      keys: { alg: 'HS256', secret: 'shhh' },
      accountId: ({ id }) => id,
      until: new Date(9e12),
    })
    const text = forge({ alg: 'HS256' }, { id: 'x' }, 'shhh')
    for (const list of [
      [...tokens, before],
      [before, ...tokens],
    ]) {
      expect(await ask(text, { tokens: list })).toMatchObject({ issuer: 'old-tokens' })
      expect(await ask(key, { tokens: list })).toMatchObject({ issuer: 'api-keys' })
    }
    expect(verified).toEqual([key, key])
  })

  it('is asked in the order of the list', async () => {
    const second = { ...apiKeys().list, issuer: 'second' }
    const none = { ...apiKeys().list, issuer: 'none', accepts: () => false }
    for (const [issuer, list] of Object.entries({
      'api-keys': [apiKeys().list, second],
      second: [second, apiKeys().list],
    }))
      expect(await ask(key, { tokens: [none, ...list] })).toMatchObject({ issuer })
  })

  const notBoolean = /^tokens: accepts must return true or false/
  it.each([
    ['an error', () => expect.fail('down'), /^down$/],
    ['a promise', async () => true, notBoolean],
    ['a rejected promise', () => Promise.reject(new Error('down')), notBoolean],
    ['1', () => 1, notBoolean],
    ['undefined', () => undefined, notBoolean],
  ])('fails closed when accepts gives %s: nobody else gets the text', async (_what, accepts, says) => {
    const next = { ...apiKeys().list, issuer: 'next', verify: () => expect.fail('asked') }
    const { tokens } = apiKeys({ accepts: accepts as never })
    expect(await ask(key, { tokens: [...tokens, next] })).toMatchObject({
      refused: 'unavailable',
      events: [
        {
          type: 'dependency.failed',
          dependency: 'keys',
          issuer: 'api-keys',
          error: { message: expect.stringMatching(says) },
        },
      ],
    })
  })

  it.each([
    ['an error', () => expect.fail('down')],
    ['a rejection', () => Promise.reject(new Error('down'))],
    ['nothing', () => undefined],
    ['a key of another issuer', () => ({ ...rows.get(key), issuer: OLD })],
    ['a token of another issuer of the list', () => old.verify(tokenOf())],
    ['a promise that never settles', () => new Promise(() => {})],
  ])('fails closed when verify gives %s', async (_what, verify) => {
    const { tokens } = apiKeys({ verify: verify as never })
    expect(await ask(key, { tokens, timeout: '20ms' })).toMatchObject({ refused: 'unavailable' })
  })

  it('has the limits of the guard: its scopes, its expiration, no recent sign-in, and no session', async () => {
    const { tokens } = apiKeys()
    expect(await ask(key, { tokens, scope: 'a' })).toMatchObject({ issuer: 'api-keys' })
    expect(await ask(key, { tokens, scope: 'b' })).toMatchObject({ refused: 'insufficient_scope' })
    expect(await ask(key, { tokens, signedInWithin: '366 days' })).toMatchObject({
      refused: 'insufficient_user_authentication',
    })
    expect(await ask(key, { tokens, isRevoked: () => true })).toMatchObject({ refused: 'invalid_token: revoked' })
    const store = memoryStore()
    expect(await ask(key, { tokens, store })).toMatchObject({ issuer: 'api-keys' })
    expect(await ask(tokenOf(), { tokens, store })).toMatchObject({ refused: 'invalid_token: revoked' })
    const over = apiKeys({ verify: () => ({ ...ownToken, expiresAt: new Date() }) }).tokens
    expect(await ask(key, { tokens: over })).toMatchObject({ refused: 'invalid_token: expired' })
  })

  it('does not get a text that is no bearer token', async () => {
    const { tokens, asked } = apiKeys()
    for (const text of ['acme_key, x', 'acme_ké', 'acme_"x"'])
      expect(await ask(text, { tokens })).toMatchObject({ refused: 'invalid_request' })
    expect(asked).toEqual([])
  })

  it('must have a function as accepts', () => {
    expectMisuse(
      () => requireBearer({ tokens: apiKeys({ accepts: true as never }).tokens }),
      /"accepts" must be a function/,
    )
  })

  it('keeps closeWhenEnded from looking for a session', async () => {
    const { tokens } = apiKeys()
    const find = vi.fn()
    const store = { sessions: { ...memoryStore().sessions, find } }
    const isRevoked = vi.fn(() => isRevoked.mock.calls.length > 1)
    const guard = requireBearer({ tokens, store, isRevoked, onEvent: () => {} })
    const req = requestWith(key)
    await guard.authenticate(req)
    await new Promise<void>((resolve) => closeWhenEnded(req, guard, () => resolve(), { every: '1s' }))
    expect(find).not.toHaveBeenCalled()
    expect(isRevoked).toHaveBeenCalled()
  })
})

describe('a custom verifier in a list', () => {
  it('gets the tokens of its issuer only, and its tokens have this issuer', async () => {
    const verify = vi.fn(async () => ownToken)
    const tokens = [old, custom(verify)]
    expect(await ask(farToken(), { tokens })).toEqual({ issuer: FAR, events: [] })
    await ask(tokenOf(), { tokens })
    expect(verify).toHaveBeenCalledOnce()
  })

  it.each([undefined, null, 'text', {}])('must return a token, and not %j', async (value) => {
    const says = /^tokens: verify must return a verified token, or throw/
    for (const tokens of [[custom(() => value)], [old, custom(() => value)]]) {
      expect(await ask(farToken(), { tokens })).toMatchObject({
        refused: 'unavailable',
        events: [{ dependency: 'keys', issuer: FAR, error: { message: expect.stringMatching(says) } }],
      })
    }
  })

  it('must not return a token of another issuer', async () => {
    const tokens = [old, custom(async () => ({ ...ownToken, issuer: OLD }))]
    expect(await ask(farToken(), { tokens })).toMatchObject({
      refused: 'unavailable',
      events: [
        {
          dependency: 'keys',
          issuer: FAR,
          error: { message: expect.stringMatching(/^tokens: verify returned a token from a different issuer/) },
        },
      ],
    })
  })

  it('may hang without an effect on other issuers', async () => {
    const tokens = [old, custom(() => new Promise(() => {}))]
    const hanging = ask(farToken(), { tokens, timeout: '20ms' })
    expect(await ask(tokenOf(), { tokens })).toMatchObject({ issuer: OLD })
    expect(await hanging).toMatchObject({ refused: 'unavailable', events: [{ dependency: 'keys', issuer: FAR }] })
  })
})
