import { misuse } from '../options/misuse.js'
import { parseJson } from '../options/values.js'
import { explained } from './redis-errors.js'

/** Sends one command to Redis, and returns its reply. */
export type SendCommand = (...command: [name: string, ...args: string[]]) => Promise<unknown>

/**
 * Begins a script that adds to the index of an account. `extend` keeps the greater of two expirations of a key, because older versions of
 * Redis have no option `GT`. Entries leave the index an hour late, because this process's clock may be ahead, and what is not in the index
 * could not be removed with its account.
 */
export const INDEX = `local function extend(key, at)
  local rest = redis.call('PTTL', key)
  if rest < 0 or rest < at - tonumber(ARGV[1]) then redis.call('PEXPIREAT', key, at) end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - 3600000)
`

/** Adds a hash that expires: its fields and values are the arguments after the expiration. */
export const ADD = `redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIREAT', KEYS[1], ARGV[2])
return 1`

// biome-ignore lint/suspicious/noExplicitAny: the store has written them
export type RedisValues = any[]

/**
 * Returns the keys of a store, and the functions that send its commands. The key of an item is the prefix and the item's id.
 * @param scripts each has one key, and so works on a cluster. Its first argument is the current time
 */
export function redisCommands<Script extends string>(
  sendCommand: SendCommand,
  prefix: string,
  scripts: Readonly<Record<Script, string>>,
) {
  const indexOf = (accountId: string) => `${prefix}of ${accountId}`
  const unchanged = () => misuse('redisStore: "sendCommand" must return the reply from Redis unchanged')

  async function send(...command: [name: string, ...args: string[]]): Promise<unknown> {
    let reply: unknown
    try {
      reply = await sendCommand(...command)
    } catch (error) {
      throw explained(error)
    }
    if (reply !== undefined) return reply
    throw misuse('redisStore: "sendCommand" must return the reply from Redis. Is a "return" missing?')
  }

  const evaluate = (script: Script, key: string, now: number, ...args: string[]) =>
    send('EVAL', scripts[script], '1', key, String(now), ...args)

  return {
    send,
    unchanged,
    /** Reads the field of a hash. Returns undefined for a hash that is not there. */
    itemOf<T>(text: unknown, read: (values: RedisValues) => T): T | undefined {
      if (text === null) return undefined
      const values = parseJson(String(text))
      if (!Array.isArray(values)) throw unchanged()
      return read(values)
    },
    evaluate,
    keyOf: (id: string) => `${prefix}${id}`,
    /** Returns the key of an account's items. No id has a space, so no client can send an id that is the key of an index. */
    indexOf,
    /** Returns the members of an account's index. */
    membersOf: async (accountId: string) => [await send('ZRANGE', indexOf(accountId), '0', '-1')].flat().map(String),
    /** Runs a script that returns 0 or 1. */
    async run(...args: Parameters<typeof evaluate>): Promise<boolean> {
      const reply = String(await evaluate(...args))
      if (reply === '0' || reply === '1') return reply === '1'
      throw unchanged()
    },
  }
}
