import { func, text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { aliasesOf, optional, readOptions } from '../options/read-options.js'
import { parseJson } from '../options/values.js'
import type { Session, SessionStore } from '../sessions/session.js'
import { explained } from './redis-errors.js'

/** The options of `redisSessions`. */
export interface RedisSessionsOptions {
  /**
   * Sends one command to Redis, and returns its reply. With node-redis: `(...command) => client.sendCommand(command)`. With ioredis:
   * `(...command) => redis.call(...command)`. Each command has one key.
   */
  sendCommand: (...command: [name: string, ...args: string[]]) => Promise<unknown>
  /** The beginning of all keys. Apps on one Redis need different ones. Default `'session:'`. */
  prefix?: string | undefined
}

/** Keeps the greater of two expirations of a key. Older versions of Redis have no option `GT`. */
const EXTEND = `local function extend(key, at)
  local rest = redis.call('PTTL', key)
  if rest < 0 or rest < at - tonumber(ARGV[1]) then redis.call('PEXPIREAT', key, at) end
end
`

/** Each script has one key, and so works on a cluster. The first argument is the current time. */
const SCRIPTS = {
  /**
   * Adds a session to the index of its account, or moves it there. Removes those that expired an hour ago, because this process's clock may be
   * ahead, and a session that is not in the index could not be ended.
   */
  index: `${EXTEND}redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - 3600000)
local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not score or tonumber(score) < tonumber(ARGV[3]) then redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2]) end
extend(KEYS[1], tonumber(ARGV[3]))
return 1`,
  add: `redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIREAT', KEYS[1], ARGV[2])
return 1`,
  touch: `local found = redis.call('HGET', KEYS[1], 'found')
if found then redis.call('HSET', KEYS[1], 'found', (found:gsub('%d+', ARGV[2], 1))) end
return 1`,
  replace: `local found = redis.call('HGET', KEYS[1], 'found')
if not found or cjson.decode(found)[4] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'found', ARGV[3])
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
return 1`,
} as const

/** The members that guards and refreshes read. */
type Found = Pick<Session, 'accountId' | 'lastUsedAt' | 'createdAt' | 'expiresAt' | 'refresh'>

/** The other fields of the hash of a session. A member that is null has no field. */
const DEVICE = ['address', 'userAgent', 'label'] as const

const schema = {
  sendCommand: func<RedisSessionsOptions['sendCommand']>(
    'a function that sends a command, like (...command) => client.sendCommand(command)',
  ),
  prefix: optional(text('a non-empty text'), 'session:'),
}

const aliases = aliasesOf({ sendCommand: 'client redis connection', prefix: 'keyPrefix namespace' })

/**
 * Creates a session store in Redis 5 or newer, also on a cluster, with any client. Expired sessions leave it by themselves. Pass the
 * result to `createSessions`. Redis must keep what it has written, see docs/guides/stores.md.
 * @throws TypeError naming the option that is not valid
 */
export function redisSessions(options: RedisSessionsOptions): Required<SessionStore> {
  const { sendCommand, prefix } = readOptions<RedisSessionsOptions, typeof schema>(
    'redisSessions',
    options,
    schema,
    aliases,
  )
  const keyOf = (id: string) => `${prefix}${id}`
  // No id has a space, so no client can send an id that is the key of an index.
  const indexOf = (accountId: string) => `${prefix}of ${accountId}`

  async function send(...command: [name: string, ...args: string[]]): Promise<unknown> {
    let reply: unknown
    try {
      reply = await sendCommand(...command)
    } catch (error) {
      throw explained(error)
    }
    if (reply !== undefined) return reply
    throw misuse('redisSessions: "sendCommand" must return the reply of Redis. Is a "return" missing?')
  }

  async function run(script: keyof typeof SCRIPTS, key: string, ...args: string[]): Promise<boolean> {
    const reply = String(await send('EVAL', SCRIPTS[script], '1', key, String(Date.now()), ...args))
    if (reply === '0' || reply === '1') return reply === '1'
    throw unchanged()
  }

  async function find(id: string): Promise<Found | undefined> {
    const text = await send('HGET', keyOf(id), 'found')
    return text === null ? undefined : foundOf(text)
  }

  const idsOf = async (accountId: string) => [await send('ZRANGE', indexOf(accountId), '0', '-1')].flat().map(String)

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
      await run('index', indexOf(accountId), id, end)
      const device = DEVICE.flatMap((field) => (session[field] === null ? [] : [field, session[field]]))
      await run('add', keyOf(id), end, 'found', textOf(session), ...device)
    },
    find,
    async list(accountId) {
      const ids = await idsOf(accountId)
      const found = await Promise.all(
        ids.map(async (id) => {
          const values = await send('HMGET', keyOf(id), 'found', ...DEVICE)
          if (!Array.isArray(values)) throw unchanged()
          if (values[0] === null) return []
          const [address, userAgent, label] = values.slice(1).map((value) => (value === null ? null : String(value)))
          const found = foundOf(values[0])
          return found.accountId === accountId ? [{ ...found, id, address, userAgent, label } as Session] : []
        }),
      )
      return found.flat()
    },
    remove,
    async removeAll(accountId, exceptId) {
      const ids = (await idsOf(accountId)).filter((id) => id !== exceptId)
      const removed = await Promise.all(ids.map((id) => remove(id, accountId)))
      return removed.includes(true)
    },
    async touch(id, lastUsedAt) {
      await run('touch', keyOf(id), String(lastUsedAt.getTime()))
    },
    async replace(id, from, change) {
      const found = await find(id)
      if (!found) return false
      const end = String(change.expiresAt.getTime())
      await run('index', indexOf(found.accountId), id, end)
      return run('replace', keyOf(id), from, textOf({ ...found, ...change }), end)
    },
  }
}

const unchanged = () => misuse('redisSessions: "sendCommand" must return the reply of Redis unchanged')

/** Returns what guards read as one field, because a client needs longer for several. The first number is the one that `touch` replaces. */
const textOf = ({ lastUsedAt, createdAt, expiresAt, refresh, accountId }: Found) =>
  JSON.stringify([+lastUsedAt, +createdAt, +expiresAt, refresh ?? null, accountId])

function foundOf(text: unknown): Found {
  const values = parseJson(String(text))
  if (!Array.isArray(values)) throw unchanged()
  const [lastUsedAt, createdAt, expiresAt, refresh, accountId] = values
  return {
    accountId,
    lastUsedAt: new Date(lastUsedAt),
    createdAt: new Date(createdAt),
    expiresAt: new Date(expiresAt),
    refresh,
  }
}
