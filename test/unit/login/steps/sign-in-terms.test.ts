import { expect, it } from 'vitest'
import { keptTerms } from '../../../../src/login/steps/sign-in-terms.js'

it.each([undefined, null])('a refresh token has no terms of a sign-in whose lifetime is %o', (lifetime) => {
  const account = { accountId: 'acc-1', scopes: ['a'], claims: {}, lifetime: '1h' } as const
  expect(keptTerms({ ...account, lifetime }, account, undefined)).toBeUndefined()
})
