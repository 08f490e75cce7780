import { type MemoryAccount, memoryAccounts } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../support/failures.js'
import { ACCOUNTS, makeStore } from '../../support/fixtures.js'

const { alice, bob } = ACCOUNTS

describe('memoryAccounts', () => {
  it('finds by e-mail and by id', async () => {
    expect(await makeStore().findByEmail(alice.email)).toEqual(alice)
    expect(await makeStore().findById(alice.id)).toEqual(alice)
  })

  it.each(['nobody@example.com', '', 'ALICE@example.com', ' alice@example.com', 'alice@example.com ', '__proto__'])(
    'finds nobody by %j',
    async (text) => {
      expect(await makeStore().findByEmail(text)).toBeUndefined()
      expect(await makeStore().findById(text)).toBeUndefined()
    },
  )

  it('takes any iterable', async () => {
    expect(await memoryAccounts(new Set([alice])).findById(alice.id)).toEqual(alice)
    expect(await memoryAccounts([]).findById(alice.id)).toBeUndefined()
  })

  it.each<[string, MemoryAccount]>([
    ['an id', { ...bob, id: alice.id }],
    ['an e-mail address', { ...bob, email: alice.email }],
  ])('refuses two accounts that share %s', (_, second) => {
    expectMisuse(() => memoryAccounts([alice, second]), 'memoryAccounts: two accounts share')
  })
})

describe('memoryAccounts with an invalid account', () => {
  it.each(['', undefined, 7])('refuses the id %o', (id) => {
    expectMisuse(() => memoryAccounts([{ ...bob, id: id as string }]), 'account: "id" must be a non-empty string')
  })
})

describe('memoryAccounts without an address', () => {
  it.each([null, undefined, {}, { ...bob, email: 7 }, { ...bob, email: undefined }])('refuses %o', (account) => {
    expectMisuse(() => memoryAccounts([alice, account as never]), 'memoryAccounts: each account needs an "email"')
  })
})

describe('replacePasswordHash', () => {
  it('replaces the hash, for both ways to find the account', async () => {
    const store = makeStore()
    expect(await store.replacePasswordHash(alice.id, alice.passwordHash, 'new:x')).toBe(true)
    expect(await store.findById(alice.id)).toEqual({ ...alice, passwordHash: 'new:x' })
    expect(await store.findByEmail(alice.email)).toEqual({ ...alice, passwordHash: 'new:x' })
    expect(await store.findById(bob.id)).toEqual(bob)
  })

  it('changes no account that was given or handed out', async () => {
    const given = { ...alice }
    const store = memoryAccounts([given])
    const handedOut = await store.findById(alice.id)
    await store.replacePasswordHash(alice.id, alice.passwordHash, 'new:x')
    expect([given, handedOut]).toEqual([alice, alice])
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

  it('lets one of two at once win', async () => {
    const store = makeStore()
    const swap = (to: string) => store.replacePasswordHash(alice.id, alice.passwordHash, to)
    expect(await Promise.all([swap('new:1'), swap('new:2')])).toEqual([true, false])
    expect(await store.findById(alice.id)).toMatchObject({ passwordHash: 'new:1' })
  })
})
