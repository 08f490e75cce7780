import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import {
  claimsOf,
  isVerifiedToken,
  mayBeRefreshed,
  type PrivateClaims,
  toVerifiedToken as readToken,
  signedInAtOf,
  signInOf,
} from '../../../src/tokens/verified-token.js'
import { thrownBy } from '../../support/failures.js'
import { forge, goodParts, ISSUER, issueNow } from '../../support/fixtures.js'
import { polluted } from '../../support/pollution.js'
import { atFrozenMoment, partsOf } from '../../support/tokens.js'

const { now, issuer, forged } = atFrozenMoment()

describe('a verified token', () => {
  it('tells what the token says', async () => {
    const { token, id } = issueNow(issuer, { accountId: 'acc-1', scopes: ['a', 'b'], claims: { tenant: 'north' } })
    expect({ ...(await issuer.verify(token)) }).toEqual({
      id,
      accountId: 'acc-1',
      issuer: ISSUER,
      audience: ISSUER,
      clientId: ISSUER,
      scopes: ['a', 'b'],
      issuedAt: new Date(now * 1000),
      expiresAt: new Date((now + 3600) * 1000),
      claims: { tenant: 'north' },
    })
  })

  it('without claims costs no object for them: thousands are remembered', async () => {
    const [one, two] = await Promise.all([forged(), forged({ payload: { jti: 'jti-2' } })].map(issuer.verify))
    expect(one).toMatchObject({ scopes: [], claims: {} })
    expect(one?.claims).toBe(two?.claims)
    expect(Object.isFrozen(one?.claims)).toBe(true)
  })

  it.each<[string, unknown, unknown]>([
    ['a list of texts', ['pwd', 'otp'], ['pwd', 'otp']],
    ['a text', 'pwd', undefined],
    ['objects, as Supabase writes them', [{ method: 'password' }], undefined],
    ['none', undefined, undefined],
  ])('has the methods of the sign-in, whose claim is %s', async (_, claim, amr) => {
    const verified = await issuer.verify(forged({ payload: { amr: claim } }))
    expect(verified.amr).toEqual(amr)
    expect(verified.claims['amr']).toEqual(claim)
    expect(Object.isFrozen(verified.amr)).toBe(true)
  })

  it('has a frozen copy of the methods that a custom verifier names, and none of claims that throw', () => {
    const [amr, dates] = [['hwk'], { issuedAt: new Date(now), expiresAt: new Date(now) }]
    const members = { id: 'a', accountId: 'a', scopes: [], ...dates }
    const verified = readToken({ ...members, claims: { amr } }, 'other', false)
    amr.push('user')
    expect(verified?.amr).toEqual(['hwk'])
    expect(Object.isFrozen(verified?.amr)).toBe(true)
    const claims = {
      get amr() {
        throw new Error('no')
      },
    }
    expect(readToken({ ...members, claims }, 'other', false)?.amr).toBeUndefined()
  })

  it('has none of the registered claims among its private ones', async () => {
    const token = forged({ payload: { nbf: now, scope: 'a', client_id: 'c', tenant: 'north' } })
    expect((await issuer.verify(token)).claims).toEqual({ tenant: 'north' })
  })

  it('cannot be changed, however deep', async () => {
    const claims = { list: [{ n: 1 }], nested: { deep: { n: 1 } } }
    const verified = await issuer.verify(issueNow(issuer, { accountId: 'acc-1', scopes: ['a'], claims }).token)
    const read = verified.claims as typeof claims
    const parts = [verified, verified.scopes, read, read.list, read.list[0], read.nested, read.nested.deep]
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true))
  })

  it('may have claims that are nested deeper than the stack', async () => {
    const { header, payload } = goodParts(now)
    const nested = JSON.stringify(payload).replace(/}$/, `,"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)
    expect(await issuer.verify(forge(header, nested))).toMatchObject({ id: 'jti-1' })
  })

  it('gives each reader dates of its own', async () => {
    const verified = await issuer.verify(forged())
    verified.expiresAt.setTime(0)
    verified.issuedAt.setTime(0)
    expect(verified.expiresAt.getTime()).toBe((now + 3600) * 1000)
    expect(verified.issuedAt.getTime()).toBe(now * 1000)
  })

  it('is made by verifying alone: it leads to no constructor, and to nothing that tokens share and anyone may change', async () => {
    const verified = await issuer.verify(forged())
    expect(verified.constructor).toBe(Object)
    expect(Object.isFrozen(Object.getPrototypeOf(verified))).toBe(true)
  })

  it('of ours tells when its account has signed in', async () => {
    expect(mayBeRefreshed(await issuer.verify(forged()))).toBe(false)
  })

  it('holds nothing of the token text', async () => {
    const token = forged()
    const shown = inspect(await issuer.verify(token), { depth: 9, showHidden: true, getters: true })
    for (const part of Object.values(partsOf(token))) expect(shown).not.toContain(part)
  })
})

describe('the time of a sign-in', () => {
  it.each([
    ['is that of the issue, where the token tells none', undefined, now],
    ['is that of the token', now - 60, now - 60],
    ['is never after the issue', now + 60, now],
    ['is not known when the token has a text', String(now), Number.NaN],
  ])('%s', async (_, time, seconds) => {
    const auth = await issuer.verify(forged({ payload: { auth_time: time } }))
    expect(signInOf(auth)).toBe(seconds * 1000)
    expect(signedInAtOf(auth)).toEqual(new Date(Number.isNaN(seconds) ? 0 : seconds * 1000))
  })
})

describe('isVerifiedToken', async () => {
  const verified = await issuer.verify(forged())

  it.each<[string, unknown, boolean]>([
    ['a verified token', verified, true],
    ['a copy of one', { ...verified }, false],
    ['what inherits from one', Object.create(verified), false],
    ['null', null, false],
    ['text', forged(), false],
    ['a function', () => verified, false],
  ])('%s', (_, value, expected) => {
    expect(isVerifiedToken(value)).toBe(expected)
  })
})

describe('toVerifiedToken', () => {
  const toVerifiedToken = (value: unknown) => readToken(value, 'https://host.example.com', false)
  const least = { id: 'jti-9', accountId: 'acc-9', scopes: ['a'], issuedAt: new Date(1234) }
  const whole = {
    ...least,
    issuer: 'https://other.example.com',
    audience: 'reports',
    clientId: 'client-9',
    expiresAt: new Date(5678),
    claims: { tenant: 'north' },
  }

  it('gives a token of ours back as it is', async () => {
    const verified = await issuer.verify(forged())
    expect(toVerifiedToken(verified)).toBe(verified)
  })

  it('makes a token of ours of what another verifier returned', () => {
    const token = toVerifiedToken({ ...whole, extra: 1, issuedAt: new Date(1234) })
    expect(isVerifiedToken(token)).toBe(true)
    expect(Object.isFrozen(token)).toBe(true)
    expect({ ...token }).toEqual(whole)
  })

  it('names the verifier as the issuer, and says of what else is absent that it is empty, and that the token never expires', () => {
    const absent = { issuer: 'https://host.example.com', audience: '', claims: {}, expiresAt: new Date(8.64e15) }
    expect({ ...toVerifiedToken(least) }).toEqual({ ...least, ...absent })
    const nothing = { issuer: null, audience: undefined, expiresAt: null, claims: null }
    expect({ ...toVerifiedToken({ ...least, ...nothing }) }).toEqual({ ...least, ...absent })
  })

  it.each([0, 1, 999, 1001, 548_653_777_953, 1_772_366_400_123, 8.64e15, -8.64e15])(
    'keeps a time to the millisecond: %d',
    (time) => {
      const token = toVerifiedToken({ ...whole, issuedAt: new Date(time), expiresAt: new Date(time) })
      expect([token?.issuedAt.getTime(), token?.expiresAt.getTime()]).toEqual([time, time])
    },
  )

  it('gives each reader dates of its own, and neither changes nor shares what it was given', () => {
    const given = { ...whole, scopes: ['a'], issuedAt: new Date(1234), claims: { tenant: 'north', nested: { n: 1 } } }
    const token = toVerifiedToken(given)
    const parts = [given, given.scopes, given.claims, given.claims.nested]
    expect(parts.map(Object.isFrozen)).toEqual([false, false, false, false])
    token?.issuedAt.setTime(0)
    given.issuedAt.setTime(0)
    given.scopes.push('admin')
    expect({ ...token }).toEqual({ ...whole, claims: { tenant: 'north', nested: { n: 1 } } })
    expect(Object.isFrozen(token?.scopes)).toBe(true)
  })

  it('passes the claims as they are, also those that JSON cannot hold', () => {
    const claims = { at: new Date(0), groups: new Map([['a', 1]]), left: undefined, big: 1n, self: {} }
    claims.self = claims
    expect(toVerifiedToken({ ...whole, claims })?.claims).toBe(claims)
    expect(Object.isFrozen(claims)).toBe(false)
  })

  it('takes Dates of another realm, and members that a class provides', () => {
    const dates: object = runInNewContext('({ issuedAt: new Date(1234), expiresAt: new Date(5678) })')
    expect({ ...toVerifiedToken({ ...whole, ...dates }) }).toEqual(whole)
    class Token {
      get id() {
        return 'jti-9'
      }
      accountId = 'acc-9'
      scopes = []
      issuedAt = new Date(1234)
    }
    expect(toVerifiedToken(new Token())).toMatchObject({ id: 'jti-9', accountId: 'acc-9' })
  })

  it('reads each member once: what is checked is what is used', () => {
    const reads: string[] = []
    const given = new Proxy(whole, {
      get(target, name, receiver) {
        if (reads.includes(String(name))) return 7
        reads.push(String(name))
        return Reflect.get(target, name, receiver)
      },
    })
    expect({ ...toVerifiedToken(given) }).toEqual(whole)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['text', forged()],
    ['an array', [whole]],
    ['an array with the members of a token', Object.assign([], whole)],
    ['a function', Object.assign(() => {}, whole)],
    ['a promise', Promise.resolve(whole)],
    ['a promise with the members of a token', Object.assign(Promise.resolve(), whole)],
    ['a promise of another realm', Object.assign(runInNewContext('Promise.resolve()'), whole)],
    ['an empty object', {}],
    ...Object.entries({
      id: [undefined, '', 7],
      accountId: [undefined, ''],
      scopes: [undefined, 'a b', ['a b'], [7]],
      issuedAt: [undefined, new Date(Number.NaN), 1234, Object.create(Date.prototype)],
      expiresAt: [new Date(Number.NaN), '2026-03-01'],
      issuer: [7],
      audience: [['a', 'b']],
      clientId: [7, ['client-9']],
      claims: ['{}', [], Promise.resolve({})],
    }).flatMap(([name, values]) =>
      values.map((value, i): [string, unknown] => [`a wrong ${name}, row ${i + 1}`, { ...whole, [name]: value }]),
    ),
  ])('takes this for no token: %s', (_, value) => {
    expect(toVerifiedToken(value)).toBeUndefined()
  })

  it.each<[string, unknown]>(Object.entries(whole))('takes no %s that every object inherits', async (name, value) => {
    const { [name]: _, ...rest } = whole as Record<string, unknown>
    const token = await polluted({ [name]: value }, () => {
      const made = toVerifiedToken(rest)
      return made && [{ ...made }]
    })
    const isOptional = ['issuer', 'audience', 'clientId', 'expiresAt', 'claims'].includes(name)
    if (isOptional) expect(token?.[0]?.[name as 'issuer']).not.toEqual(value)
    else expect(token).toBeUndefined()
  })
})

describe('claimsOf', () => {
  const hasTenant = (claims: PrivateClaims): claims is PrivateClaims & { tenant: string } =>
    typeof claims['tenant'] === 'string'

  it('returns the claims when the check holds, and refuses the token when not', async () => {
    const good = await issuer.verify(forged({ payload: { tenant: 'north' } }))
    expect(claimsOf(good, hasTenant)).toBe(good.claims)
    const bad = await issuer.verify(forged({ payload: { tenant: 7 } }))
    expect(thrownBy(() => claimsOf(bad, hasTenant))).toMatchObject({
      code: 'invalid_token',
      reason: 'claims',
      accountId: bad.accountId,
    })
  })
})
