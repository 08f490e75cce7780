import { createTokenIssuer } from 'express-token-endpoint'
import { describe, expect, test } from 'vitest'
import { databaseRevocation } from '../../../example-app/data/revocation.js'
import { issueNow } from '../../support/fixtures.js'
import { DATABASES } from './databases/databases.js'

const SECONDS = 1000

for (const { name, skip, use } of DATABASES) {
  describe.skipIf(skip)(`revoked tokens in ${name}`, () => {
    const openDatabase = use()

    /** Returns a token that expires after this many milliseconds. */
    const token = (lifetime = 3600 * SECONDS) => {
      const issuedAt = new Date(Date.now() + lifetime - 3600 * SECONDS)
      const issuer = createTokenIssuer({ issuer: 'http://localhost', keys: { alg: 'HS256', secret: 'x'.repeat(32) } })
      const { id, expiresAt } = issueNow(issuer, { accountId: 'acc-1', issuedAt })
      return { id, expiresAt } as Parameters<ReturnType<typeof databaseRevocation>['revoke']>[0]
    }

    test('revokes one token and no other', async () => {
      const { isRevoked, revoke } = databaseRevocation(await openDatabase())
      const [one, other] = [token(), token()]
      expect(await isRevoked(one)).toBe(false)
      await Promise.all([revoke(one), revoke(one)])
      expect(await isRevoked(one)).toBe(true)
      expect(await isRevoked(other)).toBe(false)
    })

    test('deletes entries a minute after their tokens have expired', async () => {
      const db = await openDatabase()
      const { isRevoked, revoke } = databaseRevocation(db)
      const [old, recent, fresh] = [token(-120 * SECONDS), token(-30 * SECONDS), token()]
      for (const one of [old, recent, fresh]) await revoke(one)
      expect(await isRevoked(old)).toBe(false)
      expect(await isRevoked(recent)).toBe(true)
      expect(await isRevoked(fresh)).toBe(true)
    })
  })
}
