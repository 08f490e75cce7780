import { createPasswords } from 'express-token-endpoint'
import { describe, expect, test } from 'vitest'
import { createAccountStore } from '../../../example-app/data/account-store.js'
import { addDemoData, openDemoAccounts } from '../../../example-app/data/demo.js'
import { createStatements } from '../../../example-app/data/statements.js'
import { ALICE, BOB } from '../support.js'
import { DATABASES } from './databases/databases.js'

const passwords = createPasswords()

for (const { name, skip, use } of DATABASES) {
  describe.skipIf(skip)(`demo data in ${name}`, () => {
    const openDatabase = use()

    async function makeStore() {
      const db = await openDatabase()
      const store = createAccountStore(db)
      const open = async () => (await openDemoAccounts(store, passwords)).map(({ email }) => email)
      return { db, store, open }
    }

    test('adds two accounts to an empty database, once', async () => {
      const { db, store, open } = await makeStore()
      await addDemoData(db, passwords)
      expect(await open()).toEqual([ALICE.email, BOB.email])
      const before = await store.findByEmail(ALICE.email)
      await addDemoData(db, passwords)
      expect(await store.findByEmail(ALICE.email)).toEqual(before)
    })

    test('adds the statements once when several processes start at the same time', async () => {
      const { db, store } = await makeStore()
      await Promise.all([1, 2, 3].map(() => addDemoData(db, passwords)))
      const { id = '' } = (await store.findByEmail(ALICE.email)) ?? {}
      const statements = createStatements(db)
      expect(await statements.list('north', id)).toMatchObject([
        { day: '2013-05-02', description: 'Settlement 1041', amountCents: 125_000 },
        { day: '2013-05-02', description: 'Clearing fee', amountCents: -1_250 },
        { day: '2013-05-03', description: 'Settlement 1042', amountCents: 89_990 },
        { day: '2013-05-06', description: 'Settlement 1043', amountCents: 40_005 },
      ])
      expect(await statements.list('south', id)).toHaveLength(3)
      expect(await statements.findHouse('south')).toEqual({ id: 'south', name: 'Clearing House South' })
      expect(await statements.findHouse('east')).toBeUndefined()
    })

    test('adds nothing to a database with an account', async () => {
      const { db, store, open } = await makeStore()
      await store.add({ email: 'carol@example.com', passwordHash: 'none', scopes: [] })
      await addDemoData(db, passwords)
      expect(await open()).toEqual([])
    })

    test('an account with a changed password is not an open demo account', async () => {
      const { db, store, open } = await makeStore()
      await addDemoData(db, passwords)
      await store.setPasswordHash(ALICE.email, await passwords.hash('another password'))
      expect(await open()).toEqual([BOB.email])
    })
  })
}
