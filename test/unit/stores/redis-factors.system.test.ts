// Tests stores/{redis-factors,redis-store}.ts
import { inspect } from 'node:util'
import type { FactorStore, StoredFactor } from 'express-token-endpoint'
import { type RedisStoreOptions, redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectFactorStore } from '../../support/factor-store.js'
import { rejectionOf } from '../../support/failures.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'

const START = Date.now()
const at = (hours: number) => new Date(START + hours * 3_600_000)
const factor = (id: string, more: Partial<StoredFactor> = {}): StoredFactor => ({
  id,
  accountId: 'acc-1',
  kind: 'totp',
  expiresAt: null,
  data: '"secret-1"',
  ...more,
})

/** A store whose command of a number fails, before or after Redis has executed it. */
async function open(prefix?: string) {
  const { url } = await startRedis()
  const redis = new Redis(url)
  onTestFinished(() => redis.disconnect())
  const fault = { in: Number.POSITIVE_INFINITY, isLate: false }
  const sendCommand: RedisStoreOptions['sendCommand'] = async (...command) => {
    const isFailing = fault.in-- === 0
    const reply = isFailing && !fault.isLate ? undefined : await redis.call(...command)
    if (isFailing) throw new Error('the connection is lost')
    return reply
  }
  const store = redisStore({ sendCommand, prefix }).factors
  const add = async (one: StoredFactor, most = 5, now = at(0)) => store.add(one, most, now)
  return { url, redis, store, fault, add }
}

describe.skipIf(NO_REDIS)('the factors of redisStore', () => {
  it('fulfils the contract of a store of factors, with ioredis and node-redis', async () => {
    const { url, redis, store } = await open()
    const client = createClient({ url })
    await client.connect()
    onTestFinished(() => client.destroy())
    const other = redisStore({ sendCommand: (...command) => client.sendCommand(command) }).factors
    await expectFactorStore(store, other)
    await expectFactorStore(other, store)
    // The keys of factors that have left the hash after their expiration.
    for (const key of await redis.keys('*')) expect(await redis.pttl(key)).toBeGreaterThan(0)
  })

  it('lets its keys expire with the last factor of an account, and never with one that does not expire', async () => {
    const { redis, add } = await open('app:')
    const ends = () => Promise.all(['a', 'b', 'c', 'of acc-1'].map((key) => redis.pexpiretime(`app:factor:${key}`)))
    const [one, two] = [at(1).getTime(), at(2).getTime()]
    await add(factor('a', { expiresAt: at(2) }))
    await add(factor('b', { expiresAt: at(1) }))
    expect(await ends()).toEqual([two, one, -2, two])
    await add(factor('c'))
    expect(await ends()).toEqual([two, one, -1, -1])
    await add(factor('d', { expiresAt: at(3) }))
    expect(await add(factor('c', { expiresAt: at(3) }))).toBe(false)
    expect(await ends()).toEqual([two, one, -1, -1])
  })

  it('removes factors an hour after they have expired, when an account adds one', async () => {
    const { add, store } = await open()
    await add(factor('a', { expiresAt: at(1) }))
    await add(factor('b', { expiresAt: at(3) }))
    await add(factor('c', { kind: 'passkey' }), 1, new Date(at(2).getTime() - 1))
    expect(await store.list('acc-1')).toHaveLength(3)
    // Counts only the factors that have not expired.
    expect(await add(factor('d', { expiresAt: at(4) }), 2, at(2))).toBe(true)
    expect((await store.list('acc-1')).map(({ id }) => id).sort()).toEqual(['b', 'c', 'd'])
    expect(await store.find('a')).toBeUndefined()
  })

  it('makes room for the id of one that has expired, which then leads to the new one', async () => {
    const { redis, add, store } = await open()
    await add(factor('a', { expiresAt: at(1) }))
    expect(await add(factor('a', { expiresAt: at(2) }), 1, new Date(at(1).getTime() - 1))).toBe(false)
    expect(await add(factor('a', { expiresAt: at(2) }), 1, at(1))).toBe(true)
    expect(await redis.pexpiretime('factor:a')).toBe(at(2).getTime())
    expect(await store.find('a')).toEqual(factor('a', { expiresAt: at(2) }))
    expect(await add(factor('a'), 1, at(2))).toBe(true)
    expect(await redis.pexpiretime('factor:a')).toBe(-1)
  })

  it('keeps the key of a factor that it has refused for at most a minute', async () => {
    const { redis, add } = await open()
    await add(factor('a'), 1)
    expect(await add(factor('b'), 1)).toBe(false)
    expect((await redis.keys('*')).sort()).toEqual(['factor:a', 'factor:b', 'factor:of acc-1'])
    expect(await redis.pexpiretime('factor:b')).toBe(START + 60_000)
    expect(await redis.pexpiretime('factor:a')).toBe(-1)
  })

  it.each(['{app}:', 'a{}b:', 'ö '])(
    'keeps accounts and kinds of any text apart, with the prefix %j',
    async (prefix) => {
      const { store, add } = await open(prefix)
      const texts = [
        'a',
        'a ',
        ' a',
        'a}',
        '{a',
        'of a',
        'a\nb',
        '\0',
        '"',
        '",',
        '\\',
        '🦊',
        '%d',
        '.*',
        '9007199254740993',
      ]
      const all = texts.flatMap((accountId, i) => texts.map((kind, k) => factor(`${i}-${k}`, { accountId, kind })))
      for (const one of all) {
        expect(await add(one, 1)).toBe(true)
        expect(await add({ ...one, id: 'x' }, 1)).toBe(false)
      }
      await store.removeAll('a', ['a'])
      await store.removeAll('{a', texts)
      for (const one of all) {
        const isLeft = one.accountId !== '{a' && !(one.accountId === 'a' && one.kind === 'a')
        expect(await store.find(one.id)).toEqual(isLeft ? one : undefined)
      }
      expect(await store.find('x')).toBeUndefined()
    },
  )

  it('says what is wrong with an error of Redis, without a value', async () => {
    const { redis, add } = await open()
    await redis.hset('factor:secret-2', 'x', 'y')
    const error = await rejectionOf(add(factor('secret-2')))
    expect(String(error)).toContain('redisStore: another app uses the same keys')
    expect(inspect(error)).not.toContain('secret-')
    const parsed = redisStore({ sendCommand: async () => ({}) }).factors
    expect(String(await rejectionOf(Promise.resolve(parsed.find('a'))))).toContain('reply from Redis unchanged')
  })
})

describe.skipIf(NO_REDIS)('the factors of redisStore, while a command of a call fails', () => {
  /** Returns the data that the id and the list of the account lead to. */
  const found = async (store: FactorStore) => [
    (await store.find('a'))?.data,
    ...(await store.list('acc-1')).map(({ data }) => data),
  ]
  const DATA = '"secret-1"'

  it.each<[string, number, (store: FactorStore) => unknown, after: (string | undefined)[]]>([
    ['add', 3, (store) => store.add(factor('a'), 1, at(0)), [DATA, DATA]],
    ['replace', 3, (store) => store.replace('a', DATA, '2'), ['2', '2']],
    ['remove', 2, (store) => store.remove('a', 'acc-1'), [undefined]],
    ['removeAll', 3, (store) => store.removeAll('acc-1', ['totp']), [undefined]],
  ])(
    '%s leaves the factor as it was or as it should be, and works when it is called again',
    async (method, commands, call, after) => {
      const { redis, store, fault, add } = await open()
      for (const isLate of [false, true]) {
        for (let number = 0; number < commands; number++) {
          await redis.flushall()
          if (method !== 'add') await add(factor('a'))
          const before = await found(store)
          Object.assign(fault, { in: number, isLate })
          expect(String(await rejectionOf(Promise.resolve(call(store))))).toContain('the connection is lost')
          // A factor that is removed only in part is listed, so it can be removed again.
          const half = method.startsWith('remove') ? [undefined, DATA] : before
          expect([before, half, after]).toContainEqual(await found(store))
          await call(store)
          expect(await found(store)).toEqual(after)
          await store.removeAll('acc-1', ['totp'])
          expect(await found(store)).toEqual([undefined])
          expect(await add(factor('b'), 1)).toBe(true)
        }
      }
      Object.assign(fault, { in: commands, isLate: false })
      await redis.flushall()
      if (method !== 'add')
        await redisStore({ sendCommand: (...command) => redis.call(...command) }).factors.add(factor('a'), 1, at(0))
      await call(store)
      expect(fault.in).toBeLessThanOrEqual(0)
    },
  )

  it('adds a factor that an id leads to when its key has expired after a failure', async () => {
    const { redis, store, fault, add } = await open()
    Object.assign(fault, { in: 2 })
    await expect(add(factor('a'))).rejects.toThrow('the connection is lost')
    await redis.del('factor:a')
    expect(await add(factor('a'))).toBe(false)
    expect(await found(store)).toEqual([DATA, DATA])
    expect(await redis.pexpiretime('factor:a')).toBe(-1)
  })

  it('leaves no factor that its id does not lead to, while another process adds and removes the same', async () => {
    const { redis } = await open()
    const store = redisStore({ sendCommand: (...command) => redis.call(...command) }).factors
    const add = () => store.add(factor('a'), 1, at(0))
    const remove = () => store.remove('a', 'acc-1')
    for (const [own, other] of [
      [add, remove],
      [remove, add],
    ] as const) {
      for (let number = 0; number < 4; number++) {
        await redis.flushall()
        if (own === remove) await add()
        let left = number
        const interrupted = redisStore({
          async sendCommand(...command) {
            if (left-- === 0) await other()
            return redis.call(...command)
          },
        }).factors
        await (own === add ? interrupted.add(factor('a'), 1, at(0)) : interrupted.remove('a', 'acc-1'))
        const [byId, ...listed] = await found(store)
        expect([byId].filter(Boolean), `${own.name} ${number}`).toEqual(listed)
      }
    }
  })

  it('gives an id to one of two accounts, also when the key of the first one has expired meanwhile', async () => {
    const { redis, store } = await open()
    let left = 2
    const slow = redisStore({
      async sendCommand(...command) {
        if (left-- === 0) {
          await redis.del('factor:a')
          expect(await store.add(factor('a', { accountId: 'acc-2' }), 1, at(0))).toBe(true)
        }
        return redis.call(...command)
      },
    }).factors
    expect(await slow.add(factor('a'), 1, at(0))).toBe(false)
    expect(await store.list('acc-1')).toEqual([])
    expect(await store.find('a')).toEqual(factor('a', { accountId: 'acc-2' }))
  })
})
