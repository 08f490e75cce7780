import { createPasswords } from 'express-token-endpoint'
import { expect, onTestFinished, test } from 'vitest'
import { createAccountStore } from '../../example-app/account-store.js'
import { openDatabase } from '../../example-app/database.js'
import { addDemoData, openDemoAccounts } from '../../example-app/demo.js'
import { ALICE, BOB, tempDir } from './support.js'

const passwords = createPasswords()

async function makeStore() {
  const db = await openDatabase(await tempDir())
  onTestFinished(() => db.destroy())
  const store = createAccountStore(db)
  const open = async () => (await openDemoAccounts(store, passwords)).map(({ email }) => email)
  return { db, store, open }
}

test('an empty database gets two accounts, once', async () => {
  const { db, store, open } = await makeStore()
  await addDemoData(db, passwords)
  expect(await open()).toEqual([ALICE.email, BOB.email])
  const before = await store.findByEmail(ALICE.email)
  await addDemoData(db, passwords)
  expect(await store.findByEmail(ALICE.email)).toEqual(before)
})

test('a database with an account gets none', async () => {
  const { db, store, open } = await makeStore()
  await store.add({ email: 'carol@example.com', passwordHash: 'none', scopes: [] })
  await addDemoData(db, passwords)
  expect(await open()).toEqual([])
})

test('an account with a password of its own is no open demo account', async () => {
  const { db, store, open } = await makeStore()
  await addDemoData(db, passwords)
  await store.setPasswordHash(ALICE.email, await passwords.hash('another password'))
  expect(await open()).toEqual([BOB.email])
})
