import type { RevocationCheck, VerifiedToken } from 'express-token-endpoint'
import type { Redis } from 'ioredis'
import { messageOf, Outage } from '../failure.js'
import type { Database } from './databases/schema.js'

/** Tokens that were taken away before they expired. */
export interface Revocation {
  isRevoked: RevocationCheck
  revoke(token: VerifiedToken): Promise<void>
}

/** Clocks differ a little: an entry that ended before its token would let it in again. */
const MARGIN_MS = 60_000

/** For every process on the same database. */
export function databaseRevocation(db: Database): Revocation {
  return {
    async isRevoked({ id }) {
      return (await db.selectFrom('revoked_tokens').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
    },
    async revoke({ id, expiresAt }) {
      // Entries of tokens that have expired are of no use any more, and nobody else clears them away.
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

/** For every process on the same Redis. */
export function redisRevocation(redis: Redis): Revocation {
  return {
    isRevoked: async ({ id }) => (await redis.exists(keyOf(id)).catch(throwOutage)) === 1,
    async revoke({ id, expiresAt }) {
      await redis.set(keyOf(id), '', 'PXAT', expiresAt.getTime() + MARGIN_MS).catch(throwOutage)
    },
  }
}

/** A token has many spellings, but one id. */
function keyOf(id: string): string {
  return `revoked:${id}`
}

function throwOutage(error: unknown): never {
  throw new Outage(`Redis: ${messageOf(error)}`, { cause: error })
}
