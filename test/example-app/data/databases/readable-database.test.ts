import { expect, onTestFinished, test } from 'vitest'
import { createAccountStore } from '../../../../example-app/data/account-store.js'
import { openDatabase } from '../../../../example-app/data/databases/database.js'
import { openReadableDatabase } from '../../../../example-app/data/databases/readable-database.js'
import { tempDir } from '../../support.js'

test('SQLite: sees the writes of other connections, and refuses its own', async () => {
  const config = { dataDir: await tempDir(), databaseUrl: undefined }
  const db = await openDatabase(config, () => {})
  onTestFinished(() => db.destroy())
  const readable = await openReadableDatabase(config, () => {})
  onTestFinished(() => readable.destroy())
  const account = { email: 'carol@example.com', passwordHash: 'none', scopes: [] }
  await createAccountStore(db).add(account)
  const store = createAccountStore(readable)
  expect(await store.isEmpty()).toBe(false)
  await expect(store.add({ ...account, email: 'dave@example.com' })).rejects.toThrow(/readonly/)
})
