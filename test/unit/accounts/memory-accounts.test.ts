import { memoryAccounts } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../support/failures.js'
import { ACCOUNTS, makeStore } from '../../support/fixtures.js'

const { alice, bob } = ACCOUNTS

describe('memoryAccounts', () => {
  it('takes any iterable, and finds by e-mail and by id', async () => {
    const store = memoryAccounts(new Set([alice]))
    expect([await store.findByEmail(alice.email), await store.findById(alice.id)]).toEqual([alice, alice])
  })

  it.each(['nobody@example.com', '', 'ALICE@example.com', 'alice@example.com ', '__proto__'])(
    'finds nobody by %j',
    async (text) => {
      expect(await makeStore().findByEmail(text)).toBeUndefined()
      expect(await makeStore().findById(text)).toBeUndefined()
    },
  )

  it.each<[unknown, string]>([
    [{ ...bob, id: alice.id }, 'memoryAccounts: two accounts share'],
    [{ ...bob, email: alice.email }, 'memoryAccounts: two accounts share'],
    [{ ...bob, id: '' }, 'account: "id" must be a non-empty string'],
    [null, 'memoryAccounts: each account needs an "email"'],
    [{ ...bob, email: 7 }, 'memoryAccounts: each account needs an "email"'],
  ])('refuses %j', (account, says) => {
    expectMisuse(() => memoryAccounts([alice, account as never]), says)
  })
})

describe('replacePasswordHash', () => {
  it('replaces the hash for both look-ups, and changes no account that was given or handed out', async () => {
    const given = { ...alice }
    const store = memoryAccounts([given, bob])
    const handedOut = await store.findById(alice.id)
    expect(await store.replacePasswordHash(alice.id, alice.passwordHash, 'new:x')).toBe(true)
    const replaced = { ...alice, passwordHash: 'new:x' }
    expect([await store.findById(alice.id), await store.findByEmail(alice.email)]).toEqual([replaced, replaced])
    expect([given, handedOut, await store.findById(bob.id)]).toEqual([alice, alice, bob])
  })

  it.each([
    ['another hash', alice.id, 'plain:other'],
    ['another account', 'acc-9', alice.passwordHash],
    ['an account without a password', ACCOUNTS.passwordless.id, alice.passwordHash],
  ])('replaces nothing for %s', async (_, id, from) => {
    const store = makeStore()
    expect(await store.replacePasswordHash(id, from, 'new:x')).toBe(false)
    for (const account of Object.values(ACCOUNTS)) expect(await store.findById(account.id)).toEqual(account)
  })
})
