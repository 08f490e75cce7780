import { func, text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { aliasesOf, optional, readOptions } from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import type { FoundSession, Session, SessionStore } from '../sessions/session.js'
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
  /** Adds a session to the index of its account, or moves it there. Removes those that have expired. */
  index: `${EXTEND}redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not score or tonumber(score) < tonumber(ARGV[3]) then redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2]) end
extend(KEYS[1], tonumber(ARGV[3]))
return 1`,
  add: `redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIREAT', KEYS[1], ARGV[2])
return 1`,
  remove: `if redis.call('HGET', KEYS[1], 'accountId') ~= ARGV[2] then return 0 end
return redis.call('DEL', KEYS[1])`,
  touch: `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'lastUsedAt', ARGV[2]) end
return 1`,
  replace: `if redis.call('HGET', KEYS[1], 'refresh') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'refresh', ARGV[3], 'expiresAt', ARGV[4], 'lastUsedAt', ARGV[5])
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
return 1`,
} as const

/** The fields of the hash of a session. Those of `find` come first. */
const FIELDS = [
  'accountId',
  'lastUsedAt',
  'createdAt',
  'expiresAt',
  'refresh',
  'address',
  'userAgent',
  'label',
] as const
const FOUND = FIELDS.slice(0, 5)

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

  async function readFields(id: string, fields: readonly string[]): Promise<Record<string, string | null> | undefined> {
    const values = await send('HMGET', keyOf(id), ...fields)
    if (!Array.isArray(values)) throw unchanged()
    if (values[0] == null) return undefined
    return Object.fromEntries(fields.map((field, i) => [field, values[i] == null ? null : String(values[i])]))
  }

  const idsOf = async (accountId: string) => [await send('ZRANGE', indexOf(accountId), '0', '-1')].flat().map(String)

  /** Removes a session, and then its entry in the index: an entry without a session does no harm. */
  async function remove(id: string, accountId: string): Promise<boolean> {
    const isRemoved = await run('remove', keyOf(id), accountId)
    if (isRemoved) await send('ZREM', indexOf(accountId), id)
    return isRemoved
  }

  return {
    async add(session) {
      const { id, accountId, expiresAt } = session
      const end = String(expiresAt.getTime())
      // The index comes first, because a session that is not in it could not be ended.
      await run('index', indexOf(accountId), id, end)
      await run('add', keyOf(id), end, ...FIELDS.flatMap((field) => fieldOf(session, field)))
    },
    async find(id) {
      const fields = await readFields(id, FOUND)
      return fields && foundSession(fields)
    },
    async list(accountId) {
      const ids = await idsOf(accountId)
      const found = await Promise.all(
        ids.map(async (id) => {
          const fields = await readFields(id, FIELDS)
          return fields?.['accountId'] === accountId ? [wholeSession(id, fields)] : []
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
    async replace(id, from, { refresh, expiresAt, lastUsedAt }) {
      const accountId = (await readFields(id, ['accountId']))?.['accountId']
      if (accountId == null) return false
      const end = String(expiresAt.getTime())
      await run('index', indexOf(accountId), id, end)
      return run('replace', keyOf(id), from, refresh, end, String(lastUsedAt.getTime()))
    },
  }
}

const unchanged = () => misuse('redisSessions: "sendCommand" must return the reply of Redis unchanged')

/** Returns a field of the hash with its value. Redis has no null, so a member that is null has no field. */
function fieldOf(session: Session, field: (typeof FIELDS)[number]): string[] {
  const value = memberOf(session, field) as string | Date | null | undefined
  return value == null ? [] : [field, String(value.valueOf())]
}

const dateOf = (milliseconds: string | null | undefined) => new Date(Number(milliseconds))

function foundSession(fields: Record<string, string | null>): FoundSession {
  return {
    accountId: String(fields['accountId']),
    lastUsedAt: dateOf(fields['lastUsedAt']),
    createdAt: dateOf(fields['createdAt']),
    expiresAt: dateOf(fields['expiresAt']),
    refresh: fields['refresh'] ?? null,
  }
}

function wholeSession(id: string, fields: Record<string, string | null>): Session {
  const { address = null, userAgent = null, label = null } = fields
  return { ...(foundSession(fields) as Session), id, address, userAgent, label }
}
