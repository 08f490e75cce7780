import { expect, it } from 'vitest'
import { keptTerms, withKeptTerms } from '../../../src/login/known-sign-in.js'
import type { TokenSubject } from '../../../src/tokens/jwt/issue-token.js'

const account = { accountId: 'acc-1', scopes: ['a', 'b'], claims: {}, lifetime: '1h', issuedAt: new Date(0) } as const

it.each([undefined, null])('a refresh token has no terms of a sign-in whose lifetime is %o', (lifetime) => {
  expect(keptTerms({ ...account, lifetime }, account, undefined)).toBeUndefined()
})

it.each<[string, Partial<TokenSubject>, Partial<TokenSubject>]>([
  ['one scope of the account and another one', { scopes: ['a', 'x'] }, { scopes: ['a'] }],
  ['a scope in addition to those of the account', { scopes: ['a', 'b', 'x'] }, { scopes: ['a', 'b'] }],
  ['a shorter lifetime', { lifetime: '5m' }, { lifetime: '5m' }],
])('a token that a function of the host gave %s gets no more by a refresh', (_, given, refreshed) => {
  const text = keptTerms({ ...account, ...given }, account, undefined)
  const later = { ...account, scopes: ['a', 'b', 'c'] }
  expect(withKeptTerms(later, text)).toEqual({ ...later, ...refreshed })
})
