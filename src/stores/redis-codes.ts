import type { CodeStore, StoredCode } from '../codes/codes.js'
import { ADD, INDEX, redisCommands, type SendCommand } from './redis-commands.js'

const SCRIPTS = {
  /**
   * Adds a code to the index of its account, unless the account has too many of its purpose. An entry is the digest, a space and the
   * purpose.
   */
  index: `${INDEX}local count = 0
local entries = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 1, #entries, 2 do
  local isSame = entries[i]:match(' .*') == ARGV[2]:match(' .*')
  if isSame and tonumber(entries[i + 1]) > tonumber(ARGV[1]) then count = count + 1 end
end
if count >= tonumber(ARGV[4]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
extend(KEYS[1], tonumber(ARGV[3]))
return 1`,
  add: ADD,
  take: `local found = redis.call('HGET', KEYS[1], 'found')
redis.call('DEL', KEYS[1])
return found`,
} as const

/** Creates the codes of a store in Redis. Expired codes leave it by themselves. */
export function redisCodes(sendCommand: SendCommand, prefix: string): CodeStore {
  const redis = redisCommands(sendCommand, `${prefix}code:`, SCRIPTS)
  const { send, run, keyOf, indexOf } = redis
  const codeOf = (digest: string, text: unknown): StoredCode | undefined =>
    redis.itemOf(text, ([purpose, accountId, expiresAt, data]) => ({
      digest,
      purpose,
      accountId,
      expiresAt: new Date(expiresAt),
      data,
    }))

  return {
    async add({ digest, purpose, accountId, expiresAt, data }, most, now) {
      const end = String(expiresAt.getTime())
      // The index comes last: removeAll reads it, and a code in no index is not known to anyone, because its call has failed.
      await run('add', keyOf(digest), +now, end, 'found', JSON.stringify([purpose, accountId, +expiresAt, data]))
      const isAdded = await run('index', indexOf(accountId), +now, `${digest} ${purpose}`, end, String(most))
      if (!isAdded) await send('DEL', keyOf(digest))
      return isAdded
    },
    find: async (digest) => codeOf(digest, await send('HGET', keyOf(digest), 'found')),
    async take(digest) {
      const code = codeOf(digest, await redis.evaluate('take', keyOf(digest), Date.now()))
      // The code is used up, so a failure must not lose it. Its entry then counts until the code would have expired.
      if (code) await send('ZREM', indexOf(code.accountId), `${digest} ${code.purpose}`).catch(() => {})
      return code
    },
    async removeAll(accountId, purpose) {
      const members = await redis.membersOf(accountId)
      const ended = members.filter(
        (member) => purpose === undefined || member.slice(member.indexOf(' ') + 1) === purpose,
      )
      await Promise.all(
        ended.map(async (member) => {
          await send('DEL', keyOf(member.slice(0, member.indexOf(' '))))
          await send('ZREM', indexOf(accountId), member)
        }),
      )
    },
  }
}
