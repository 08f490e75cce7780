import { expect, it } from 'vitest'
import { CHANGES, changeIssuer, NEW, OLD, type Plan } from '../../support/issuers/issuer-change.js'

it.each(CHANGES)('an app changes %s, and no valid token is refused', async (_what, keys) => {
  expect(await changeIssuer(2000, keys)).toEqual({ [OLD]: expect.any(Number), [NEW]: expect.any(Number) })
})

it.each<[string, Plan]>([
  ['a process issues new tokens before each process accepts them', ['issue new', 'accept both', 'wait', 'accept new']],
  ['a process stops accepting old tokens before they have expired', ['accept both', 'issue new', 'accept new']],
])('tokens are refused when %s', async (_what, plan) => {
  expect(await changeIssuer(2000, {}, plan)).toMatchObject({ issuer: expect.any(Number) })
})
