import { createSecretKey } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setImmediate as endOfTurn } from 'node:timers'
import express from 'express'
import { AuthError, requireBearer, type TokenVerifier } from 'express-token-endpoint'
import fc from 'fast-check'
import request from 'supertest'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { GuardedRequest } from '../../../src/guard/guard.js'
import { ISSUED_FORM } from '../../../src/tokens/jwt/claims.js'
import * as signature from '../../../src/tokens/jwt/signature.js'
import { verifyToken } from '../../../src/tokens/jwt/verify-token.js'
import { readKeys, type VerificationKey } from '../../../src/tokens/keys/key-ring.js'
import { verifiedCache } from '../../../src/tokens/verified-cache.js'
import { type Verifier, verifierOf, withVerifier } from '../../../src/tokens/verifier.js'
import {
  cachedOf,
  decodePayload,
  forge,
  frozenClock,
  goodParts,
  ISSUER,
  issueNow,
  makeIssuer,
  SECRET,
} from '../../support/fixtures.js'
import { encode, partsOf } from '../../support/tokens.js'

vi.mock('../../../src/tokens/jwt/signature.js', { spy: true })
const verify = vi.mocked(signature.isSignedBy)
beforeEach(() => void verify.mockClear())

describe('the cache of verified tokens', () => {
  it('has each token verified once, and gives the same frozen object', async () => {
    const issuer = makeIssuer()
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    const first = await issuer.verify(token)
    expect(await issuer.verify(token)).toBe(first)
    expect(cachedOf(issuer, token)).toBe(first)
    expect(Object.isFrozen(first)).toBe(true)
    expect(verify).toHaveBeenCalledOnce()
  })

  it('knows nothing of a token that it has not seen', () => {
    const issuer = makeIssuer()
    expect(cachedOf(issuer, issueNow(issuer, { accountId: 'acc-1' }).token)).toBeUndefined()
  })

  it('never remembers a refusal', async () => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock })
    const { header, payload } = goodParts(clock.seconds() + 10)
    const early = forge(header, payload)
    for (let i = 0; i < 2; i++) await expect(issuer.verify(early)).rejects.toMatchObject({ reason: 'not_yet_valid' })
    expect(verify).toHaveBeenCalledTimes(2)
    clock.advance(10_000)
    expect(await issuer.verify(early)).toMatchObject({ id: 'jti-1' })
  })

  it.each([
    ['from its iat', {}, 0, -1],
    ['until its exp', { lifetime: '10s' }, 9999, 10_000],
    ['until its exp and the clock tolerance', { lifetime: '10s', clockTolerance: 5 }, 14_999, 15_000],
  ])('knows a token %s, to the millisecond', async (_, options, known, unknown) => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock, ...options })
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    await issuer.verify(token)
    clock.advance(known)
    expect(cachedOf(issuer, token)).toBeDefined()
    clock.advance(unknown - known)
    expect(cachedOf(issuer, token)).toBeUndefined()
    await expect(issuer.verify(token)).rejects.toThrow(AuthError)
  })

  it('holds iat and nbf against a clock that is set back', async () => {
    const clock = frozenClock()
    const issuer = makeIssuer({ clock })
    const { header, payload } = goodParts(clock.seconds() - 100)
    const [plain, later] = [forge(header, payload), forge(header, { ...payload, nbf: clock.seconds() - 50 })]
    await Promise.all([plain, later].map((token) => issuer.verify(token)))
    clock.advance(-60_000)
    expect([plain, later].map((token) => cachedOf(issuer, token) !== undefined)).toEqual([true, false])
    clock.advance(-50_000)
    expect(cachedOf(issuer, plain)).toBeUndefined()
  })

  it('is keyed on the whole text: another spelling of the same bytes is another token', async () => {
    const issuer = makeIssuer()
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    await issuer.verify(token)
    for (const other of [`${token}=`, ` ${token}`, `${token} `, token.toUpperCase(), token.slice(0, -1), `${token}A`]) {
      expect(cachedOf(issuer, other)).toBeUndefined()
      await expect(issuer.verify(other)).rejects.toThrow(AuthError)
    }
  })

  /** Creates a cache, and a verification that can be added under any text. */
  function cacheOf(size: number) {
    const ring = readKeys('createTokenIssuer', { alg: 'HS256', secret: SECRET, kid: 'k1' })
    const { header, payload } = goodParts()
    const expected = { issuer: ISSUER, audience: ISSUER, now: Date.now(), tolerance: 0 }
    return {
      ...verifiedCache(size, ring, Date.now),
      verification: verifyToken(forge(header, payload), { keys: ring, form: ISSUED_FORM }, expected),
    }
  }

  it('keeps the tokens that were used last, and no others', () => {
    const text = fc.integer({ min: 0, max: 12 }).map((n) => `token-${String(n).padStart(20, '0')}`)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(text), (size, used) => {
        const { add, find, verification } = cacheOf(size)
        let newest: string[] = []
        for (const one of used) {
          expect(find(one)).toBe(newest.slice(0, size).includes(one) ? verification.token : undefined)
          add(one, verification)
          newest = [one, ...newest.filter((other) => other !== one)]
        }
        expect(newest.filter((one) => find(one))).toEqual(newest.slice(0, size))
      }),
    )
  })

  it('forgets no token for others that it does not know', () => {
    const { add, find, verification } = cacheOf(1)
    add('token-1', verification)
    for (let n = 2; n < 9; n++) find(`token-${n}`)
    expect(find('token-1')).toBe(verification.token)
  })

  it('forgets an expired token for good, also when the clock is set back', () => {
    const { verification } = cacheOf(2)
    let now = verification.notAfter
    const { add, find } = verifiedCache(2, { find: () => verification.key, all: () => [] }, () => now)
    add('token', verification)
    expect(find('token')).toBeUndefined()
    now = verification.notBefore
    expect(find('token')).toBeUndefined()
  })

  // CVE-2026-35039: when the key of a cache is only a part of the token, one token can be accepted in place of another.
  it('tells tokens apart whose ends are the same', async () => {
    const { add, find, verification } = cacheOf(10)
    add('first.the-same-16-chars.', verification)
    expect(find('other.the-same-16-chars.')).toBeUndefined()
    add('other.the-same-16-chars.', verification)
    expect(find('other.the-same-16-chars.')).toBe(verification.token)
    expect(find('first.the-same-16-chars.')).toBeUndefined()
  })

  it('is not harmed by a forged token that ends as a remembered one', async () => {
    const issuer = makeIssuer()
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    await issuer.verify(token)
    const { header, signature } = partsOf(token)
    const forged = (sub: string) => `${header}.${encode({ ...decodePayload(token), sub })}.${signature}`
    for (const other of [forged('acc-2'), token.slice(0, 20) + token.slice(21), signature.slice(-16)]) {
      for (let i = 0; i < 2; i++) await expect(issuer.verify(other)).rejects.toMatchObject({ code: 'invalid_token' })
      expect([cachedOf(issuer, other), cachedOf(issuer, token)]).toEqual([undefined, await issuer.verify(token)])
    }
  })

  it('is left out with false', async () => {
    const issuer = makeIssuer({ cache: false })
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    await issuer.verify(token)
    await issuer.verify(token)
    expect(cachedOf(issuer, token)).toBeUndefined()
    expect(verify).toHaveBeenCalledTimes(2)
  })

  it.each([0, -1, 1.5, true, '100', 1e9])('is misuse with the size %j', (cache) => {
    expect(() => makeIssuer({ cache: cache as number })).toThrow(/option "cache" must be a number of tokens, or false/)
  })

  it.each([
    ['has left the set', undefined],
    ['has given its name to another', createSecretKey(Buffer.from(SECRET.toUpperCase()))],
  ])('forgets what a key verified that %s', (_, key) => {
    const { verification } = cacheOf(1)
    let held: VerificationKey | undefined = verification.key
    const { add, find } = verifiedCache(10, { find: () => held, all: () => [] }, Date.now)
    add('token', verification)
    expect(find('token')).toBe(verification.token)
    held = key && { ...verification.key, key }
    expect(find('token')).toBeUndefined()
  })
})

describe('a guard that knows the token', () => {
  const issuer = makeIssuer()
  const { token } = issueNow(issuer, { accountId: 'acc-1', scopes: ['a'] })

  function ask(options: object = {}, path = '/') {
    const app = express().get('/', requireBearer({ tokens: issuer, ...options }), (req, res) => {
      res.json({ id: req.auth?.accountId })
    })
    return request(app).get(path).set('Authorization', `Bearer ${token}`)
  }

  beforeEach(async () => void (await issuer.verify(token)))

  it('lets it through without verifying it again', async () => {
    verify.mockClear()
    const verifyNew = vi.fn()
    const tokens = withVerifier({ ...issuer }, { ...(verifierOf(issuer) as Verifier), verify: verifyNew })
    await ask({ tokens }).expect(200, { id: 'acc-1' })
    expect(verifyNew).not.toHaveBeenCalled()
    expect(verify).not.toHaveBeenCalled()
  })

  it('still asks for the scope', () => ask({ scope: 'b' }).expect(403))
  it('still refuses a token in the query beside it', () => ask({}, '/?access_token=x').expect(400))
  it('still asks whether it was revoked', () => ask({ isRevoked: () => true }).expect(401))
  it('still looks the account up', () => ask({ accounts: { findById: () => null } }).expect(401))
})

/** Runs what is due in this turn of the event loop. */
async function thisTurn() {
  for (let i = 0; i < 20; i++) await undefined
}

describe('the guard, on a token’s first time', () => {
  const issuer = makeIssuer({ cache: false })
  const header = () => `Bearer ${issueNow(issuer, { accountId: 'acc-1' }).token}`

  /** Calls the guard as Express does. */
  function call(tokens: TokenVerifier) {
    const authorization = header()
    const req = { headers: { authorization }, rawHeaders: ['Authorization', authorization], url: '/' }
    const next = vi.fn()
    const res = { getHeader() {}, setHeader() {} } as unknown as ServerResponse
    requireBearer({ tokens })(req as unknown as GuardedRequest, res, next)
    return { next, req: req as GuardedRequest }
  }

  it('is verified in the same turn of the event loop', async () => {
    let turns = 0
    endOfTurn(() => turns++)
    const { next, req } = call(issuer)
    await thisTurn()
    expect(next.mock.calls).toEqual([[]])
    expect(req.auth).toMatchObject({ accountId: 'acc-1' })
    expect(turns).toBe(0)
  })

  it('comes to eight in a turn, so that the app goes on beside a flood of forged ones', async () => {
    await new Promise(endOfTurn)
    verify.mockClear()
    for (let i = 0; i < 20; i++) call(issuer)
    await thisTurn()
    const verified: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      verified.push(verify.mock.calls.length)
      await new Promise(endOfTurn)
    }
    expect(verified).toEqual([8, 16, 20, 20])
  })

  it('does not wait for timers that a test has faked', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    for (let i = 0; i < 8; i++) call(issuer)
    const { next } = call(issuer)
    for (let turn = 0; turn < 5; turn++) await new Promise(endOfTurn)
    expect(next.mock.calls).toEqual([[]])
  })
})
