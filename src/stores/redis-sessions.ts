import type { Session, SessionStore } from '../sessions/session.js'
import { ADD, INDEX, type RedisValues, redisCommands, type SendCommand } from './redis-commands.js'

const SCRIPTS = {
  /** Adds a session to the index of its account, or moves it there. */
  index: `${INDEX}local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not score or tonumber(score) < tonumber(ARGV[3]) then redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2]) end
extend(KEYS[1], tonumber(ARGV[3]))
return 1`,
  /**
   * Adds a session, but does not replace one: an old refresh token names its session, so two requests may add the same. A repeated call
   * has the same text.
   */
  add: `local found = redis.call('HGET', KEYS[1], ARGV[3])
if found and found ~= ARGV[4] then return 0 end
${ADD}`,
  touch: `local found = redis.call('HGET', KEYS[1], 'found')
if found then redis.call('HSET', KEYS[1], 'found', (found:gsub('%d+', ARGV[2], 1))) end
return 1`,
  replace: `local found = redis.call('HGET', KEYS[1], 'found')
if not found or cjson.decode(found)[4] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'found', ARGV[3], unpack(ARGV, 5))
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
return 1`,
  update: `if not redis.call('HGET', KEYS[1], 'found') then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[2])
return 1`,
} as const

/** The members that guards and refreshes read. */
type Found = Pick<Session, 'accountId' | 'lastUsedAt' | 'createdAt' | 'expiresAt' | 'refresh'>

/** The other fields of the hash of a session. A member that is null has no field. */
const DEVICE = ['address', 'userAgent', 'label'] as const

/** Creates the sessions of a store in Redis. Expired sessions leave it by themselves. */
export function redisSessions(sendCommand: SendCommand, prefix: string): Required<SessionStore> {
  const redis = redisCommands(sendCommand, `${prefix}session:`, SCRIPTS)
  const { send, run, keyOf, indexOf } = redis

  async function find(id: string) {
    const [found, terms, data] = await fieldsOf(id, 'found', 'terms', 'data')
    const session = redis.itemOf(found, foundOf)
    return session && { ...session, terms: textOrNull(terms), data: textOrNull(data) }
  }

  async function fieldsOf(id: string, ...fields: string[]): Promise<unknown[]> {
    const values = await send('HMGET', keyOf(id), ...fields)
    if (!Array.isArray(values)) throw redis.unchanged()
    return values
  }

  /** Removes a session, and then its entry in the index: an entry without a session does no harm. */
  async function remove(id: string, accountId: string): Promise<boolean> {
    if ((await find(id))?.accountId !== accountId) return false
    const isRemoved = String(await send('DEL', keyOf(id))) === '1'
    if (isRemoved) await send('ZREM', indexOf(accountId), id)
    return isRemoved
  }

  return {
    async add(session) {
      const { id, accountId, expiresAt } = session
      const end = String(expiresAt.getTime())
      // The index comes first, because a session that is not in it could not be ended.
      await run('index', indexOf(accountId), Date.now(), id, end)
      const device = [...DEVICE, 'terms' as const].flatMap((field) =>
        session[field] == null ? [] : [field, session[field]],
      )
      const isAdded = await run('add', keyOf(id), Date.now(), end, 'found', textOf(session), ...device)
      if (!isAdded) throw new Error('redisStore: the store already has this session')
    },
    find,
    async list(accountId) {
      const ids = await redis.membersOf(accountId)
      const found = await Promise.all(
        ids.map(async (id) => {
          const [text, ...device] = await fieldsOf(id, 'found', ...DEVICE)
          const [address, userAgent, label] = device.map(textOrNull)
          const found = redis.itemOf(text, foundOf)
          return found?.accountId === accountId ? [{ ...found, id, address, userAgent, label } as Session] : []
        }),
      )
      return found.flat()
    },
    remove,
    async removeAll(accountId, exceptId) {
      const ids = (await redis.membersOf(accountId)).filter((id) => id !== exceptId)
      const removed = await Promise.all(ids.map((id) => remove(id, accountId)))
      return removed.includes(true)
    },
    async touch(id, lastUsedAt) {
      await run('touch', keyOf(id), Date.now(), String(lastUsedAt.getTime()))
    },
    async replace(id, from, change) {
      const found = await find(id)
      if (!found) return false
      const end = String(change.expiresAt.getTime())
      await run('index', indexOf(found.accountId), Date.now(), id, end)
      const { terms } = change
      const more = terms === undefined ? [] : ['terms', terms]
      return run('replace', keyOf(id), Date.now(), from, textOf({ ...found, ...change }), end, ...more)
    },
    update: (id, data) => run('update', keyOf(id), Date.now(), data),
  }
}

const textOrNull = (value: unknown) => (value == null ? null : String(value))

/** Returns the members that change together, in one field. The first number is the one that `touch` replaces. */
const textOf = ({ lastUsedAt, createdAt, expiresAt, refresh, accountId }: Found) =>
  JSON.stringify([+lastUsedAt, +createdAt, +expiresAt, refresh ?? null, accountId])

const foundOf = ([lastUsedAt, createdAt, expiresAt, refresh, accountId]: RedisValues): Found => ({
  accountId,
  lastUsedAt: new Date(lastUsedAt),
  createdAt: new Date(createdAt),
  expiresAt: new Date(expiresAt),
  refresh,
})
