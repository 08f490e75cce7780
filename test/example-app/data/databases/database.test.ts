import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createAccountStore } from '../../../../example-app/data/account-store.js'
import { openDatabase } from '../../../../example-app/data/databases/database.js'
import { openReadableDatabase } from '../../../../example-app/data/databases/readable-database.js'
import { tempDir } from '../../support.js'
import { expectNewColumns, expectNewSessions } from './databases.js'

let dataDir: string
beforeEach(async () => {
  dataDir = join(await tempDir(), 'data')
})

async function open(opener = openDatabase) {
  const db = await opener({ dataDir, databaseUrl: undefined }, () => {})
  onTestFinished(() => db.destroy())
  return db
}

test('creates a folder and files that no other user can read, and opens them again', async () => {
  const db = await open()
  const modes = ['', 'clearing-house.sqlite', 'clearing-house.sqlite-wal', 'clearing-house.sqlite-shm'].map(
    async (file) => (await stat(join(dataDir, file))).mode & 0o777,
  )
  expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o600, 0o600])
  expect((await sql`pragma journal_mode`.execute(db)).rows).toMatchObject([{ journal_mode: 'wal' }])
  // It waits for the lock of another process.
  expect((await sql`pragma busy_timeout`.execute(db)).rows).toMatchObject([{ timeout: 5000 }])
  const houses = await (await open()).selectFrom('houses').select('id').orderBy('id').execute()
  expect(houses).toEqual([{ id: 'north' }, { id: 'south' }])
})

test('drops the sessions of an earlier version, also when several processes start at once', async () => {
  await expectNewSessions(await open(), open)
})

test('adds the columns that an earlier version did not have, also when several processes start at once', async () => {
  await expectNewColumns(await open(), open)
})

test('names a file that is not a database', async () => {
  dataDir = await tempDir()
  const file = join(dataDir, 'clearing-house.sqlite')
  await writeFile(file, 'this is a text, and no database at all'.repeat(100))
  await expect(open()).rejects.toThrow(`${file}: file is not a database`)
})

test('the reporting API sees the writes of other connections, and cannot write itself', async () => {
  const db = await open()
  const store = createAccountStore(await open(openReadableDatabase))
  const account = { email: 'carol@example.com', passwordHash: 'none', scopes: [] }
  await createAccountStore(db).add(account)
  expect(await store.isEmpty()).toBe(false)
  await expect(store.add({ ...account, email: 'dave@example.com' })).rejects.toThrow(/readonly/)
})
