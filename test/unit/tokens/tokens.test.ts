import { createTokenVerifier } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../support/failures.js'
import { decodePayload, ISSUER, issueNow, makeIssuer } from '../../support/fixtures.js'
import { atFrozenMoment, headerOf } from '../../support/tokens.js'

const { clock, now, issuer } = atFrozenMoment()

const REGISTERED = ['iss', 'aud', 'sub', 'client_id', 'iat', 'nbf', 'exp', 'jti', 'scope']

describe('an issued token', () => {
  it('says in its header that it is an access token, and which key signed it', () => {
    const { token } = issueNow(issuer, { accountId: 'acc-1' })
    expect(headerOf(token)).toEqual({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' })
  })

  it('carries exactly the claims of RFC 9068 that the issuer knows', () => {
    const { token, id } = issueNow(issuer, { accountId: 'acc-1', scopes: ['reports:read', 'reports:write'] })
    expect(decodePayload(token)).toEqual({
      iss: ISSUER,
      aud: ISSUER,
      sub: 'acc-1',
      client_id: ISSUER,
      iat: now,
      exp: now + 3600,
      jti: id,
      scope: 'reports:read reports:write',
    })
  })

  it.each([
    ['left out', {}],
    ['empty', { scopes: [] }],
    ['undefined', { scopes: undefined, claims: undefined }],
  ])('carries no scope when the scopes are %s', (_, rest) => {
    expect(decodePayload(issueNow(issuer, { accountId: 'acc-1', ...rest }).token)).not.toHaveProperty('scope')
  })

  it('carries the private claims', async () => {
    const names = { toString: 1, constructor: 1, valueOf: 1, hasOwnProperty: 1 }
    const claims = { tenant: 'north', roles: ['clerk'], nested: { deep: { n: 1 } }, nothing: null, ...names }
    const { token } = issueNow(issuer, { accountId: 'acc-1', claims })
    expect(decodePayload(token)).toMatchObject(claims)
    expect((await issuer.verify(token)).claims).toEqual(claims)
  })

  it('carries the client id that is set, and needs no particular one to be verified', async () => {
    const { token } = issueNow(makeIssuer({ clock, clientId: 'clearing-house' }), { accountId: 'acc-1' })
    expect(decodePayload(token)).toMatchObject({ client_id: 'clearing-house' })
    expect(await issuer.verify(token)).toMatchObject({ accountId: 'acc-1', claims: {} })
  })

  it.each(['', null, 7, ['clearing-house']])('has no client id but a non-empty text: %j', (clientId) => {
    expectMisuse(() => makeIssuer({ clientId: clientId as string }), 'option "clientId" must be a non-empty string')
  })

  it.each(REGISTERED)('has no %s of a private claim', (name) => {
    const evil = name === 'iat' || name === 'nbf' || name === 'exp' ? now + 9 : 'evil'
    const plain = decodePayload(issueNow(issuer, { accountId: 'acc-1' }).token)
    const { token, id } = issueNow(issuer, { accountId: 'acc-1', claims: { [name]: evil, other: 1 } })
    expect(decodePayload(token)).toEqual({ ...plain, jti: id, other: 1 })
  })

  it('is another one each time, also within one second', () => {
    const issued = Array.from({ length: 20 }, () => issueNow(issuer, { accountId: 'acc-1' }))
    expect(new Set(issued.map(({ token }) => token)).size).toBe(20)
    expect(new Set(issued.map(({ id }) => id)).size).toBe(20)
  })

  it('expires when it says: expiresAt is the exp inside, also in the middle of a second', () => {
    const { token, expiresAt } = issueNow(makeIssuer({ clock: () => clock() + 999 }), { accountId: 'acc-1' })
    expect(expiresAt.getTime()).toBe((decodePayload(token)['exp'] as number) * 1000)
    expect(expiresAt).toEqual(new Date((now + 3600) * 1000))
  })

  it('does not change the claims and scopes it was given', () => {
    const subject = { accountId: 'acc-1', scopes: ['a'], claims: { sub: 'evil', nested: { n: 1 } } }
    const before = structuredClone(subject)
    issueNow(issuer, subject)
    expect(subject).toEqual(before)
    expect(Object.isFrozen(subject.claims.nested)).toBe(false)
  })
})

describe('issue refuses what cannot be put into a token', () => {
  it.each([
    ['an empty account id', { accountId: '' }, 'accountId'],
    ['a number as account id', { accountId: 7 }, 'accountId'],
    ['no account id', {}, 'accountId'],
    ['scopes as one string', { accountId: 'a', scopes: 'a b' }, 'scopes'],
    ['a scope with a space', { accountId: 'a', scopes: ['a b'] }, 'scopes'],
    ['an empty scope', { accountId: 'a', scopes: [''] }, 'scopes'],
    ['a scope with a quote', { accountId: 'a', scopes: ['a"b'] }, 'scopes'],
    ['a scope with a backslash', { accountId: 'a', scopes: ['a\\b'] }, 'scopes'],
    ['a scope beyond ASCII', { accountId: 'a', scopes: ['é'] }, 'scopes'],
    ['a scope that is no string', { accountId: 'a', scopes: [7] }, 'scopes'],
    ['a hole in the scopes', { accountId: 'a', scopes: new Array(1) }, 'scopes'],
    ['claims as an array', { accountId: 'a', claims: ['x'] }, 'claims'],
    ['claims as a string', { accountId: 'a', claims: 'x' }, 'claims'],
  ])('%s', (_, subject, named) => {
    expectMisuse(() => issueNow(issuer, subject as never), `"${named}" must be`)
  })
})

it.each([undefined, null, [undefined], [null], 7, 'secret'])('a verifier takes no %j for a key', (keys) => {
  expectMisuse(() => createTokenVerifier({ issuer: ISSUER, keys: keys as never }), /^createTokenVerifier: /)
})

describe('the issuer object', () => {
  it('is frozen, and names its environment', () => {
    expect(Object.isFrozen(issuer)).toBe(true)
    expect(issuer).toMatchObject({ issuer: ISSUER, audience: ISSUER })
  })

  it('works with its functions taken off it', async () => {
    const { issue, verify, jwks } = issuer
    expect(await verify((await issue({ accountId: 'acc-1' })).token)).toMatchObject({ accountId: 'acc-1' })
    expect(jwks()).toEqual({ keys: [] })
  })
})
