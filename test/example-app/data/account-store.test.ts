import { accountStoreContract } from 'express-token-endpoint/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Accounts, createAccountStore } from '../../../example-app/data/account-store.js'
import { DATABASES } from './databases/databases.js'

/** Every database must pass these tests. */
for (const { name, skip, use } of DATABASES) {
  describe.skipIf(skip)(`account store on ${name}`, () => {
    const open = use()
    let store: Accounts
    let id: string

    beforeEach(async () => {
      const db = await open()
      store = createAccountStore(db)
      id = (await store.add({ email: 'Alice@Example.com', passwordHash: 'hash-1', scopes: ['a:read', 'b:read'] })) ?? ''
    })

    const alice = () => ({ id, passwordHash: 'hash-1', scopes: ['a:read', 'b:read'], tokensValidAfter: null })

    const existing = { email: 'alice@example.com', passwordHash: 'hash-1', scopes: ['a:read', 'b:read'] }
    for (const { name, run } of accountStoreContract({ store: () => store, existing })) test(name, run)

    test('finds an account by its address, and by its id', async () => {
      expect(await store.findByEmail('alice@example.com')).toEqual(alice())
      expect(await store.findById(id)).toEqual(alice())
    })

    test('finds nobody under an unknown address or id', async () => {
      expect(await store.findByEmail('bob@example.com')).toBeUndefined()
      expect(await store.findByEmail('')).toBeUndefined()
      expect(await store.findById('alice@example.com')).toBeUndefined()
    })

    test.each(['alice@example.com', 'Alice@Example.com', 'ALICE@EXAMPLE.COM'])('letter case: %s', async (email) => {
      expect(await store.findByEmail(email)).toMatchObject({ id })
      expect(await store.add({ email, passwordHash: 'another', scopes: [] })).toBeUndefined()
      expect(await store.setPasswordHash(email, 'hash-2')).toBe(true)
    })

    test.each([' alice@example.com', 'alice@example.com ', 'alice_example.com', '%', "' or 1=1 --"])(
      'takes an address literally: "%s"',
      async (email) => {
        expect(await store.findByEmail(email)).toBeUndefined()
      },
    )

    test('replaces the expected hash', async () => {
      expect(await store.replacePasswordHash(id, 'hash-1', 'hash-2')).toBe(true)
      expect(await store.findById(id)).toEqual({ ...alice(), passwordHash: 'hash-2' })
    })

    test('does not replace a hash that has changed', async () => {
      expect(await store.replacePasswordHash(id, 'hash-0', 'hash-2')).toBe(false)
      expect(await store.replacePasswordHash('nobody', 'hash-1', 'hash-2')).toBe(false)
      expect(await store.findById(id)).toEqual(alice())
    })

    test('replaces the hash once when two writes compete', async () => {
      const swaps = [store.replacePasswordHash(id, 'hash-1', 'x'), store.replacePasswordHash(id, 'hash-1', 'y')]
      expect((await Promise.all(swaps)).sort()).toEqual([false, true])
    })

    test('changes one account only', async () => {
      const other = await store.add({ email: 'bob@example.com', passwordHash: 'hash-1', scopes: [] })
      await store.replacePasswordHash(id, 'hash-1', 'hash-2')
      await store.setPasswordHash('alice@example.com', 'hash-3')
      expect(await store.findByEmail('bob@example.com')).toEqual({ ...alice(), id: other, scopes: [] })
    })

    test('a new password revokes the tokens issued before', async () => {
      const before = Date.now()
      expect(await store.setPasswordHash('alice@example.com', 'hash-2')).toBe(true)
      const { passwordHash, tokensValidAfter } = (await store.findById(id)) ?? {}
      expect(passwordHash).toBe('hash-2')
      expect(tokensValidAfter?.getTime()).toBeGreaterThanOrEqual(before)
      expect(tokensValidAfter?.getTime()).toBeLessThanOrEqual(Date.now())
    })

    test('sets no password for an unknown address', async () => {
      expect(await store.setPasswordHash('bob@example.com', 'hash')).toBe(false)
    })

    test('isEmpty is true only without accounts', async () => {
      expect(await store.isEmpty()).toBe(false)
      const db = await open()
      expect(await createAccountStore(db).isEmpty()).toBe(true)
    })
  })
}
