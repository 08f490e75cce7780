import type { RevocationCheck, VerifiedToken } from 'express-token-endpoint'
import type { Redis } from 'ioredis'
import { messageOf, Outage } from '../errors.js'
import type { Database } from './databases/schema.js'

/** Tokens that were revoked before they expired. */
export interface Revocation {
  isRevoked: RevocationCheck
  revoke(token: VerifiedToken): Promise<void>
}

/** Keeps an entry longer than its token, because the clocks of two machines differ. */
const MARGIN_MS = 60_000

/** Creates a list of revoked tokens that all processes on one database share. */
export function databaseRevocation(db: Database): Revocation {
  return {
    async isRevoked({ id }) {
      return (await db.selectFrom('revoked_tokens').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
    },
    async revoke({ id, expiresAt }) {
      // Expired tokens need no entry, and nothing else deletes old entries.
      const past = new Date(Date.now() - MARGIN_MS).toISOString()
      await db.deleteFrom('revoked_tokens').where('expires_at', '<', past).execute()
      await db
        .insertInto('revoked_tokens')
        .values({ id, expires_at: expiresAt.toISOString() })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
  }
}

/** Creates a list of revoked tokens that all processes on one Redis share. */
export function redisRevocation(redis: Redis): Revocation {
  return {
    isRevoked: async ({ id }) => (await redis.exists(keyOf(id)).catch(throwOutage)) === 1,
    async revoke({ id, expiresAt }) {
      await redis.set(keyOf(id), '', 'PXAT', expiresAt.getTime() + MARGIN_MS).catch(throwOutage)
    },
  }
}

function keyOf(id: string): string {
  return `revoked:${id}`
}

function throwOutage(error: unknown): never {
  throw new Outage(`Redis: ${messageOf(error)}`, { cause: error })
}
