import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { isVerifiedToken } from '../../src/tokens/verified-token.js'
import { ISSUER } from '../support/fixtures.js'
import { atFrozenMoment, partsOf } from '../support/tokens.js'

const { now, issuer, forged } = atFrozenMoment()

describe('a verified token', () => {
  it('tells what the token says', async () => {
    const { token, id } = issuer.issue({ accountId: 'acc-1', scopes: ['a', 'b'], claims: { tenant: 'north' } })
    expect({ ...(await issuer.verify(token)) }).toEqual({
      id,
      accountId: 'acc-1',
      issuer: ISSUER,
      audience: ISSUER,
      scopes: ['a', 'b'],
      issuedAt: new Date(now * 1000),
      expiresAt: new Date((now + 3600) * 1000),
      claims: { tenant: 'north' },
    })
  })

  it('has no scopes and no claims when the token carries none', async () => {
    expect(await issuer.verify(forged())).toMatchObject({ scopes: [], claims: {} })
  })

  it('without claims costs no object for them: thousands are remembered', async () => {
    const [one, two] = await Promise.all([forged(), forged({ payload: { jti: 'jti-2' } })].map(issuer.verify))
    expect(one?.claims).toBe(two?.claims)
    expect(Object.isFrozen(one?.claims)).toBe(true)
  })

  it('has none of the registered claims among its private ones', async () => {
    const token = forged({ payload: { nbf: now, scope: 'a', client_id: 'c', tenant: 'north' } })
    expect((await issuer.verify(token)).claims).toEqual({ tenant: 'north' })
  })

  it('cannot be changed, however deep', async () => {
    const claims = { list: [{ n: 1 }], nested: { deep: { n: 1 } } }
    const verified = await issuer.verify(issuer.issue({ accountId: 'acc-1', scopes: ['a'], claims }).token)
    const read = verified.claims as typeof claims
    const parts = [verified, verified.scopes, read, read.list, read.list[0], read.nested, read.nested.deep]
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true))
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

  it('has its dates in JSON', async () => {
    const verified = await issuer.verify(forged())
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
    const shown = { id: 'jti-1', issuedAt: iso(now), expiresAt: iso(now + 3600), claims: {} }
    expect(JSON.parse(JSON.stringify(verified))).toMatchObject(shown)
  })

  it('holds nothing of the token text', async () => {
    const token = forged()
    const shown = inspect(await issuer.verify(token), { depth: 9, showHidden: true, getters: true })
    for (const part of Object.values(partsOf(token))) expect(shown).not.toContain(part)
  })
})

describe('isVerifiedToken', async () => {
  const verified = await issuer.verify(forged())

  it.each<[string, unknown, boolean]>([
    ['a verified token', verified, true],
    ['a copy of one', { ...verified }, false],
    ['what inherits from one', Object.create(verified), false],
    ['an empty object', {}, false],
    ['null', null, false],
    ['undefined', undefined, false],
    ['text', forged(), false],
    ['a number', 7, false],
    ['a function', () => verified, false],
  ])('%s', (_, value, expected) => {
    expect(isVerifiedToken(value)).toBe(expected)
  })
})
