import { func, text } from '../options/checks.js'
import { aliasesOf, optional, readOptions } from '../options/read-options.js'
import type { WholeStore } from '../store/store.js'
import { redisCodes } from './redis-codes.js'
import type { SendCommand } from './redis-commands.js'
import { redisFactors } from './redis-factors.js'
import { redisSessions } from './redis-sessions.js'

/** The options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * A function that receives a command as strings, sends it to Redis, and returns a promise for the reply. The key is the second string,
   * except in `EVAL` commands, where the key is the fourth string.
   *
   * With node-redis: `(...command) => client.sendCommand(command)`. With ioredis: `(...command) => redis.call(...command)`. Each command
   * has one key.
   */
  sendCommand: (...command: [name: string, ...args: string[]]) => Promise<unknown>
  /** Prefix for all keys. Use a different prefix for each app on the same Redis server. Default: none. */
  prefix?: string | undefined
}

const schema = {
  sendCommand: func<SendCommand>('a function that sends a command, like (...command) => client.sendCommand(command)'),
  prefix: optional(text('a non-empty text'), ''),
}

const aliases = aliasesOf({ sendCommand: 'client', prefix: 'keyPrefix' })

/**
 * Creates a store in Redis 5 or newer, also on a cluster, with any client. Expired sessions, codes and factors leave it by themselves.
 * Redis must keep what it has written, see docs/guides/stores.md.
 * @throws TypeError naming the option that is not valid
 */
export function redisStore(options: RedisStoreOptions): WholeStore {
  const read = readOptions<RedisStoreOptions, typeof schema>('redisStore', options, schema, aliases)
  const { sendCommand, prefix } = read
  return {
    sessions: redisSessions(sendCommand, prefix),
    codes: redisCodes(sendCommand, prefix),
    factors: redisFactors(sendCommand, prefix),
  }
}
