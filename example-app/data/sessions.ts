import type { Session, SessionStore } from 'express-token-endpoint'
import type { ChainableCommander, Redis } from 'ioredis'
import type { DeleteResult, Selectable } from 'kysely'
import { messageOf, Outage } from '../errors.js'
import type { Database, Schema } from './databases/schema.js'

/** Creates the store of sessions that all processes on one database share. */
export function databaseSessions(db: Database): SessionStore {
  return {
    async add({ id, accountId, createdAt, expiresAt, lastUsedAt, address, userAgent, label, refresh = null }) {
      // Nothing else deletes expired sessions.
      await db.deleteFrom('sessions').where('expires_at', '<=', new Date().toISOString()).execute()
      const times = {
        created_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
        last_used_at: lastUsedAt.toISOString(),
      }
      const row = { id, account_id: accountId, ...times, address, user_agent: userAgent, label, refresh }
      await db.insertInto('sessions').values(row).execute()
    },
    async find(id) {
      const row = await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst()
      return row && sessionOf(row)
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
    async replace(id, from, { refresh, expiresAt, lastUsedAt }) {
      const { numUpdatedRows } = await db
        .updateTable('sessions')
        .set({ refresh, expires_at: expiresAt.toISOString(), last_used_at: lastUsedAt.toISOString() })
        .where('id', '=', id)
        .where('refresh', '=', from)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
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
  refresh: row.refresh,
})

const keyOf = (id: string) => `session:${id}`
const indexOf = (accountId: string) => `sessions:${accountId}`

/** Runs in one step, because another process may remove the session in between. */
const TOUCH = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'lastUsedAt', ARGV[1]) end`

/** Runs in one step, as above. A session without refresh lacks the field. */
const REPLACE = `
  if redis.call('HGET', KEYS[1], 'refresh') ~= ARGV[2] then return 0 end
  redis.call('HSET', KEYS[1], 'refresh', ARGV[3], 'expiresAt', ARGV[4], 'lastUsedAt', ARGV[5])
  redis.call('PEXPIREAT', KEYS[1], ARGV[4])
  redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
  redis.call('PEXPIREAT', KEYS[2], ARGV[4], 'GT')
  return 1`

const dateOf = (milliseconds?: string | null) => new Date(Number(milliseconds))

/** Reads a hash, which is empty for a key that has expired. A request reads only its short fields, and parses no JSON. */
function readHash({ session, expiresAt, lastUsedAt }: Record<string, string>): Session[] {
  if (!session) return []
  const { createdAt, expiresAt: firstEnd, ...members } = JSON.parse(session)
  // An earlier version of this app has stored the end only once.
  const end = expiresAt ? dateOf(expiresAt) : new Date(firstEnd)
  return [{ ...members, createdAt: new Date(createdAt), expiresAt: end, lastUsedAt: dateOf(lastUsedAt) }]
}

/** Runs the steps together, and returns their results. Redis runs all of them, also after one that fails. */
async function runAll(steps: ChainableCommander): Promise<unknown[]> {
  const results = (await steps.exec().catch(throwOutage)) ?? []
  return results.map(([error, result]) => (error ? throwOutage(error) : result))
}

/** Creates the store of sessions that all processes on one Redis share. */
export function redisSessions(redis: Redis): SessionStore {
  async function find(id: string) {
    const fields = ['accountId', 'createdAt', 'expiresAt', 'lastUsedAt', 'refresh']
    const [accountId, created, expires, used, refresh = null] = await redis
      .hmget(keyOf(id), ...fields)
      .catch(throwOutage)
    if (!accountId) return undefined
    return { accountId, createdAt: dateOf(created), expiresAt: dateOf(expires), lastUsedAt: dateOf(used), refresh }
  }
  const idsOf = (accountId: string) => redis.zrange(indexOf(accountId), '0', '-1').catch(throwOutage)

  return {
    async add({ refresh, ...session }) {
      const { id, accountId, createdAt, expiresAt, lastUsedAt } = session
      const index = indexOf(accountId)
      const times = { createdAt: +createdAt, expiresAt: +expiresAt, lastUsedAt: +lastUsedAt }
      const fields = { accountId, ...times, session: JSON.stringify(session), ...(refresh && { refresh }) }
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
    async replace(id, from, { refresh, expiresAt, lastUsedAt }) {
      const index = indexOf((await find(id))?.accountId ?? '')
      const values = [id, from, refresh, +expiresAt, +lastUsedAt]
      return (await redis.eval(REPLACE, 2, keyOf(id), index, ...values).catch(throwOutage)) === 1
    },
  }
}

function throwOutage(error: unknown): never {
  throw new Outage(`Redis: ${messageOf(error)}`, { cause: error })
}
