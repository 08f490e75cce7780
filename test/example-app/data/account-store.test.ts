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

    test.each(['alice@example.com', 'Alice@Example.com', 'ALICE@EXAMPLE.COM'])('letter case: %s', async (email) => {
      expect(await store.findByEmail(email)).toMatchObject({ id })
      expect(await store.add({ email, passwordHash: 'another', scopes: [] })).toBeUndefined()
      expect(await store.setPasswordHash(email, 'hash-2')).toBe(true)
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
