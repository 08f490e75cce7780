import type { Session, SessionStore } from 'express-token-endpoint'
import type { ChainableCommander, Redis } from 'ioredis'
import type { DeleteResult, Selectable } from 'kysely'
import { messageOf, Outage } from '../errors.js'
import type { Database, Schema } from './databases/schema.js'

/** Creates the store of sessions that all processes on one database share. */
export function databaseSessions(db: Database): SessionStore {
  return {
    async add({ id, accountId, createdAt, expiresAt, lastUsedAt, address, userAgent, label }) {
      // Nothing else deletes expired sessions.
      await db.deleteFrom('sessions').where('expires_at', '<=', new Date().toISOString()).execute()
      const times = {
        created_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
        last_used_at: lastUsedAt.toISOString(),
      }
      const row = { id, account_id: accountId, ...times, address, user_agent: userAgent, label }
      await db.insertInto('sessions').values(row).execute()
    },
    async find(id) {
      const columns = ['account_id', 'last_used_at'] as const
      const row = await db.selectFrom('sessions').select(columns).where('id', '=', id).executeTakeFirst()
      return row && { accountId: row.account_id, lastUsedAt: new Date(row.last_used_at) }
    },
    async list(accountId) {
      return (await db.selectFrom('sessions').selectAll().where('account_id', '=', accountId).execute()).map(sessionOf)
    },
    remove: async (id, accountId) =>
      hasDeleted(
        await db.deleteFrom('sessions').where('id', '=', id).where('account_id', '=', accountId).executeTakeFirst(),
      ),
    removeAll: async (accountId, exceptId = '') =>
      hasDeleted(
        await db
          .deleteFrom('sessions')
          .where('account_id', '=', accountId)
          .where('id', '!=', exceptId)
          .executeTakeFirst(),
      ),
    touch: (id, lastUsedAt) =>
      db.updateTable('sessions').set({ last_used_at: lastUsedAt.toISOString() }).where('id', '=', id).execute(),
  }
}

const hasDeleted = ({ numDeletedRows }: DeleteResult) => numDeletedRows > 0n

const sessionOf = (row: Selectable<Schema['sessions']>): Session => ({
  id: row.id,
  accountId: row.account_id,
  createdAt: new Date(row.created_at),
  expiresAt: new Date(row.expires_at),
  lastUsedAt: new Date(row.last_used_at),
  address: row.address,
  userAgent: row.user_agent,
  label: row.label,
})

const keyOf = (id: string) => `session:${id}`
const indexOf = (accountId: string) => `sessions:${accountId}`

/** Runs in one step, because another process may remove the session in between. */
const TOUCH = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'lastUsedAt', ARGV[1]) end`

const dateOf = (milliseconds: string) => new Date(Number(milliseconds))

/** Reads a hash, which is empty for a key that has expired. A request reads only its short fields, and parses no JSON. */
function readHash({ session, lastUsedAt }: Record<string, string>): Session[] {
  if (!session || !lastUsedAt) return []
  const { createdAt, expiresAt, ...members } = JSON.parse(session)
  const times = { createdAt: new Date(createdAt), expiresAt: new Date(expiresAt), lastUsedAt: dateOf(lastUsedAt) }
  return [{ ...members, ...times }]
}

/** Runs the steps together, and returns their results. Redis runs all of them, also after one that fails. */
async function runAll(steps: ChainableCommander): Promise<unknown[]> {
  const results = (await steps.exec().catch(throwOutage)) ?? []
  return results.map(([error, result]) => (error ? throwOutage(error) : result))
}

/** Creates the store of sessions that all processes on one Redis share. */
export function redisSessions(redis: Redis): SessionStore {
  async function find(id: string) {
    const [accountId, lastUsedAt] = await redis.hmget(keyOf(id), 'accountId', 'lastUsedAt').catch(throwOutage)
    return accountId && lastUsedAt ? { accountId, lastUsedAt: dateOf(lastUsedAt) } : undefined
  }
  const idsOf = (accountId: string) => redis.zrange(indexOf(accountId), '0', '-1').catch(throwOutage)

  return {
    async add(session) {
      const { id, accountId, expiresAt, lastUsedAt } = session
      const index = indexOf(accountId)
      const fields = { accountId, lastUsedAt: +lastUsedAt, session: JSON.stringify(session) }
      await runAll(
        redis
          .multi()
          .hset(keyOf(id), fields)
          .pexpireat(keyOf(id), +expiresAt)
          .zremrangebyscore(index, '-inf', Date.now())
          .zadd(index, +expiresAt, id)
          // A new key has no expiration, and 'GT' keeps a key without one.
          .pexpireat(index, +expiresAt, 'NX')
          .pexpireat(index, +expiresAt, 'GT'),
      )
    },
    find,
    async list(accountId) {
      const steps = redis.pipeline()
      for (const id of await idsOf(accountId)) steps.hgetall(keyOf(id))
      return ((await runAll(steps)) as Record<string, string>[]).flatMap(readHash)
    },
    async remove(id, accountId) {
      if ((await find(id))?.accountId !== accountId) return false
      const [deleted] = await runAll(redis.multi().del(keyOf(id)).zrem(indexOf(accountId), id))
      return deleted === 1
    },
    async removeAll(accountId, exceptId) {
      const ids = (await idsOf(accountId)).filter((id) => id !== exceptId)
      if (ids.length === 0) return false
      const [deleted] = await runAll(redis.multi().del(ids.map(keyOf)).zrem(indexOf(accountId), ids))
      return Number(deleted) > 0
    },
    touch: (id, lastUsedAt) => redis.eval(TOUCH, 1, keyOf(id), +lastUsedAt).catch(throwOutage),
  }
}

function throwOutage(error: unknown): never {
  throw new Outage(`Redis: ${messageOf(error)}`, { cause: error })
}
