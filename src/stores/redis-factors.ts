import type { FactorStore, StoredFactor } from '../factors/factor-store.js'
import { redisCommands, type SendCommand } from './redis-commands.js'

/** The time in milliseconds for which an id leads to an account that may not get its factor. */
const CLAIM_MS = 60_000

/** The factors of an account are fields of one hash, so that a script can count them. A value begins with its expiration and its kind. */
const SCRIPTS = {
  /** Makes an id lead to an account, unless it leads to another one. Extends the time of an id that does. */
  claim: `local owner = redis.call('GET', KEYS[1])
if not owner then
  redis.call('SET', KEYS[1], ARGV[2])
elseif owner ~= ARGV[2] then
  return 0
end
local rest, last = redis.call('PTTL', KEYS[1]), tonumber(ARGV[3])
if not last then
  redis.call('PERSIST', KEYS[1])
elseif not owner or (rest >= 0 and rest < last - ARGV[1]) then
  redis.call('PEXPIREAT', KEYS[1], ARGV[3])
end
return 1`,
  /**
   * Adds a factor unless it exists, or the account has too many of its kind. Factors leave the hash an hour late, because this process's
   * clock may be ahead.
   */
  add: `local now, last, never, count = tonumber(ARGV[1]), 0, false, 0
local function note(value)
  local stop = tonumber(value:match('^%[(%d+),'))
  if stop then last = math.max(last, stop) else never = true end
  return stop
end
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local stop = note(all[i + 1])
  if stop and stop <= now - 3600000 then
    redis.call('HDEL', KEYS[1], all[i])
  elseif not stop or stop > now then
    local kind = all[i + 1]:match('^%[%w+,(.*)')
    if all[i] == ARGV[2] then return 0 end
    if kind:sub(1, #ARGV[3]) == ARGV[3] then count = count + 1 end
  end
end
if count >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[5])
note(ARGV[5])
if never then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last)) end
return 1`,
  release: `if redis.call('GET', KEYS[1]) == ARGV[2] then redis.call('DEL', KEYS[1]) end
return 1`,
  replace: `if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
return 1`,
} as const

/** Creates the factors of a store in Redis. Expired factors leave it by themselves. */
export function redisFactors(sendCommand: SendCommand, prefix: string): FactorStore {
  const redis = redisCommands(sendCommand, `${prefix}factor:`, SCRIPTS)
  const { send, run, keyOf, indexOf } = redis

  const factorOf = (accountId: string, text: unknown): StoredFactor | undefined =>
    redis.itemOf(text, ([expiresAt, kind, id, data]) => ({
      id,
      accountId,
      kind,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      data,
    }))

  async function find(id: string): Promise<StoredFactor | undefined> {
    const owner = await send('GET', keyOf(id))
    if (owner === null) return undefined
    const accountId = String(owner)
    return factorOf(accountId, await send('HGET', indexOf(accountId), id))
  }

  async function list(accountId: string): Promise<StoredFactor[]> {
    // Not `HGETALL`, whose reply clients change.
    const texts = [await send('HVALS', indexOf(accountId))].flat()
    return texts.flatMap((text) => factorOf(accountId, text) ?? [])
  }

  /** Removes the key of an id first. Then an addition that finds no factor in the hash creates the key after it. */
  async function remove(id: string, accountId: string): Promise<boolean> {
    await run('release', keyOf(id), Date.now(), accountId)
    return String(await send('HDEL', indexOf(accountId), id)) === '1'
  }

  return {
    async add(factor, most, now) {
      const { id, accountId, kind } = factor
      const claim = (end: string) => run('claim', keyOf(id), +now, accountId, end)
      if (!(await claim(String(+now + CLAIM_MS)))) return false
      const kindText = `${JSON.stringify(kind)},`
      const isAdded = await run('add', indexOf(accountId), +now, id, kindText, String(most), textOf(factor))
      // An earlier call may have failed after it had added the factor.
      const stored = isAdded ? factor : await find(id)
      if (!stored || (await claim(stored.expiresAt === null ? '' : String(+stored.expiresAt)))) return isAdded
      await send('HDEL', indexOf(accountId), id)
      return false
    },
    find,
    list,
    async replace(id, from, to) {
      const factor = await find(id)
      if (factor?.data !== from) return false
      const texts = [textOf(factor), textOf({ ...factor, data: to })] as const
      return run('replace', indexOf(factor.accountId), Date.now(), id, ...texts)
    },
    remove,
    async removeAll(accountId, kinds) {
      const removed = (await list(accountId)).filter(({ kind }) => kinds.includes(kind))
      await Promise.all(removed.map(({ id }) => remove(id, accountId)))
    },
  }
}

/** Returns the value of a field. The scripts compare it as a text, so each factor has only one. */
const textOf = ({ id, kind, expiresAt, data }: StoredFactor) =>
  JSON.stringify([expiresAt && +expiresAt, kind, id, data])
