import { createTables, kyselyStore } from 'express-token-endpoint/kysely'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { describe, it } from 'vitest'
import { honestRun, thiefRun } from './refresh/runs.js'
import { FACTOR, search, WORLDS } from './refresh/search.js'

/** Calls a run with a new database in memory. */
async function inSqlite<T>(run: (store: ReturnType<typeof kyselyStore>['sessions']) => Promise<T>): Promise<T> {
  const db = new Kysely({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) })
  await createTables(db)
  try {
    return await run(kyselyStore(db).sessions)
  } finally {
    await db.destroy()
  }
}

describe.each(WORLDS)('refresh with kyselyStore in SQLite, and %s', (_, settings, network) => {
  it('never signs an honest client out', { timeout: 600_000 * FACTOR }, async () => {
    await search((list) => inSqlite((store) => honestRun(list, settings, network, store)), 8)
  })

  it('notices a thief', { timeout: 600_000 * FACTOR }, async () => {
    await search((list) => inSqlite((store) => thiefRun(list.slice(0, 400), settings, network, store)), 8)
  })
})
