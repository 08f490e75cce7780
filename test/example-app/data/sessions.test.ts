import { sessionStoreContract } from 'express-token-endpoint/testing'
import { describe, expect, test } from 'vitest'
import { databaseSessions } from '../../../example-app/data/sessions.js'
import { newSession } from '../../../src/sessions/session.js'
import { DATABASES } from './databases/databases.js'

for (const { name, skip, use } of DATABASES) {
  describe.skipIf(skip)(`sessions in ${name}`, () => {
    const openDatabase = use()

    test('pass the contract, and go with the next sign-in when they have expired', async () => {
      const store = databaseSessions(await openDatabase())
      for (const { run } of sessionStoreContract({ store })) await run()
      const add = (id: string, now: number) =>
        store.add(newSession({ id, accountId: 'acc-1', expiresAt: new Date(now + 1000) }, now))
      await add('old', 0)
      await add('new', 1000)
      expect(await store.list('acc-1')).toMatchObject([{ id: 'new' }])
    })
  })
}
