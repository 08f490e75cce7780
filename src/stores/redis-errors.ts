import { misuse } from '../options/misuse.js'

/** The commands that the stores send, with those of their scripts. */
export const COMMANDS =
  'DEL EVAL GET HDEL HGET HGETALL HMGET HSET HVALS PERSIST PEXPIREAT PTTL SET ZADD ZRANGE ZREM ZREMRANGEBYSCORE ZSCORE'

/** Hints that say how to repair a known error of Redis. An error inside a script may have more words before its code. */
const HINTS: [error: RegExp, hint: string][] = [
  [/\bREADONLY\b/, 'Redis is a read-only replica. Connect to the primary'],
  [/\b(MOVED|ASK) \d/, 'Redis is part of a cluster. Connect with a cluster client'],
  [
    /\bNOPERM\b|\bACL failure\b|\bThe user executing the script\b/,
    `the Redis user lacks permissions. Allow the keys with the "prefix", and the commands ${COMMANDS}`,
  ],
  [
    /\bunknown (redis )?command\b|\bwrong number of arg/i,
    `Redis lacks a command, or disables it. Use Redis 5 or newer with scripts, and enable ${COMMANDS}`,
  ],
  [/\bWRONGTYPE\b/, 'another app uses the same keys. Pass a different "prefix"'],
]

/**
 * Returns the error of a command with a hint if it is known. Without the arguments, which clients and Redis add: they have hashes of
 * refresh tokens and of codes.
 */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const hint = HINTS.find(([known]) => known.test(error.message))?.[1]
  if (hint !== undefined) return misuse(`redisStore: ${hint}`)
  Reflect.deleteProperty(error, 'command')
  return error
}
