import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createAccountStore } from '../../../../example-app/data/account-store.js'
import { openDatabase } from '../../../../example-app/data/databases/database.js'
import { openReadableDatabase } from '../../../../example-app/data/databases/readable-database.js'
import { tempDir } from '../../support.js'

const mode = async (file: string) => (await stat(file)).mode & 0o777

async function open(dataDir: string) {
  const db = await openDatabase({ dataDir, databaseUrl: undefined }, () => {})
  onTestFinished(() => db.destroy())
  return db
}

test('creates a folder and files that no other user can read', async () => {
  const dataDir = join(await tempDir(), 'data')
  await open(dataDir)
  expect(await mode(dataDir)).toBe(0o700)
  for (const file of ['clearing-house.sqlite', 'clearing-house.sqlite-wal', 'clearing-house.sqlite-shm']) {
    expect(await mode(join(dataDir, file)), file).toBe(0o600)
  }
})

test('uses write-ahead logging, and waits for the lock of another process', async () => {
  const db = await open(await tempDir())
  expect((await sql`pragma journal_mode`.execute(db)).rows).toMatchObject([{ journal_mode: 'wal' }])
  expect((await sql`pragma busy_timeout`.execute(db)).rows).toMatchObject([{ timeout: 5000 }])
})

test('a statement needs an existing account and house', async () => {
  const db = await open(await tempDir())
  const statement = { id: 's', day: '2013-05-02', description: '', amount_cents: 1 }
  const orphan = db.insertInto('statements').values({ ...statement, house_id: 'north', account_id: 'nobody' })
  await expect(orphan.execute()).rejects.toThrow('FOREIGN KEY')
})

test('has two clearing houses, also after it was opened again', async () => {
  const dataDir = await tempDir()
  await open(dataDir)
  const houses = await (await open(dataDir)).selectFrom('houses').select('id').orderBy('id').execute()
  expect(houses).toEqual([{ id: 'north' }, { id: 'south' }])
})

test('names a file that is not a database', async () => {
  const dataDir = await tempDir()
  const file = join(dataDir, 'clearing-house.sqlite')
  await writeFile(file, 'this is a text, and no database at all'.repeat(100))
  await expect(openDatabase({ dataDir, databaseUrl: undefined }, () => {})).rejects.toThrow(
    `${file}: file is not a database`,
  )
})

test('the reporting API sees the writes of other connections, and cannot write itself', async () => {
  const dataDir = await tempDir()
  const db = await open(dataDir)
  const readable = await openReadableDatabase({ dataDir, databaseUrl: undefined }, () => {})
  onTestFinished(() => readable.destroy())
  const account = { email: 'carol@example.com', passwordHash: 'none', scopes: [] }
  await createAccountStore(db).add(account)
  const store = createAccountStore(readable)
  expect(await store.isEmpty()).toBe(false)
  await expect(store.add({ ...account, email: 'dave@example.com' })).rejects.toThrow(/readonly/)
})
