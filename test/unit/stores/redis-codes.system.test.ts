// Tests stores/{redis-codes,redis-store}.ts
import { inspect } from 'node:util'
import type { StoredCode } from 'express-token-endpoint'
import { type RedisStoreOptions, redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectCodeStore } from '../../support/code-store.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { createCodes } from '../../support/sessions.js'

const END = Date.now() + 3_600_000
const code = (digest: string, more: Partial<StoredCode> = {}): StoredCode => ({
  digest,
  purpose: 'verify',
  accountId: 'acc-1',
  expiresAt: new Date(END),
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
  const add = (one: StoredCode, most = 5) => store.add(one, most, new Date())
  const store = redisStore({ sendCommand, prefix }).codes
  return { url, redis, store, fault, add }
}

describe.skipIf(NO_REDIS)('the codes of redisStore', () => {
  it('fulfils the contract of a store of codes, with ioredis and node-redis', async () => {
    const { url, store } = await open()
    const client = createClient({ url })
    await client.connect()
    onTestFinished(() => client.destroy())
    await expectCodeStore(store, redisStore({ sendCommand: (...command) => client.sendCommand(command) }).codes)
  })

  it('stores no code, and lets its keys expire with the last code of an account', async () => {
    const { redis, store, add } = await open('app:')
    const text = await createCodes(store).create({ purpose: 'verify', accountId: 'acc-1', lifetime: '1m' })
    const digests = (await redis.keys('app:*')).filter((key) => !key.includes(' '))
    await add(code('b'))
    const ends = await Promise.all(['app:code:b', 'app:code:of acc-1'].map((key) => redis.pexpiretime(key)))
    expect(ends).toEqual([END, END])
    expect(digests).toHaveLength(1)
    const stored = await Promise.all([
      redis.hgetall(digests[0] as string),
      redis.zrange('app:code:of acc-1', '0', '-1'),
    ])
    expect(JSON.stringify([digests, stored])).not.toContain(text)
    await store.take('b')
    expect(await redis.keys('app:code:b')).toEqual([])
    expect(await redis.zrange('app:code:of acc-1', '0', '-1')).toHaveLength(1)
  })

  it.each(['{app}:', 'a{}b:', 'ö '])(
    'keeps accounts and purposes of any text apart, with the prefix %j',
    async (prefix) => {
      const { store, add } = await open(prefix)
      const texts = ['a', 'a ', ' a', 'a}', '{a', 'of a', 'a\nb', '\0', '"', '\\', '🦊', '%d', '.*', '9007199254740993']
      const all = texts.flatMap((accountId, i) => texts.map((purpose, k) => code(`${i}-${k}`, { accountId, purpose })))
      for (const one of all) {
        expect(await add(one, 1)).toBe(true)
        expect(await add({ ...one, digest: 'x' }, 1)).toBe(false)
      }
      await store.removeAll('a', 'a')
      await store.removeAll('{a')
      for (const one of all) {
        const isLeft = one.accountId !== '{a' && !(one.accountId === 'a' && one.purpose === 'a')
        expect(await store.take(one.digest)).toEqual(isLeft ? one : undefined)
      }
      expect(await store.take('x')).toBeUndefined()
    },
  )

  it('says what is wrong with its options and with an error of Redis, without a value', async () => {
    expectMisuse(() => redisStore({} as never).codes, 'redisStore: option "sendCommand" must be a function')
    expectMisuse(
      () => redisStore({ sendCommand: async () => 1, keyPrefix: 'x' } as never).codes,
      'Did you mean "prefix"?',
    )
    const { redis, add } = await open()
    await redis.set('code:secret-2', 'x')
    const error = await rejectionOf(Promise.resolve(add(code('secret-2'))))
    expect(String(error)).toContain('redisStore: another app uses the same keys')
    expect(inspect(error)).not.toContain('secret-')
    const parsed = redisStore({ sendCommand: async () => ({}) }).codes
    expect(String(await rejectionOf(Promise.resolve(parsed.take('a'))))).toContain('reply from Redis unchanged')
  })
})

describe.skipIf(NO_REDIS)('the codes of redisStore, while a command of a call fails', () => {
  it('adds no code that is left over from removeAll, and counts none that is not stored', async () => {
    const { redis, store, fault, add } = await open()
    for (const [number, isLate, isCounted] of [
      [0, false, false],
      [0, true, false],
      [1, false, false],
      // Its reply is lost, so nobody has the code.
      [1, true, true],
    ] as const) {
      await redis.flushall()
      Object.assign(fault, { in: number, isLate })
      await expect(add(code('a'), 1)).rejects.toThrow('the connection is lost')
      expect(await add(code('b'), 1)).toBe(!isCounted)
      await store.removeAll('acc-1')
      expect(await store.take('b')).toBeUndefined()
      expect(await add(code('c'), 1)).toBe(true)
    }
  })

  it('gives out a code that it has removed, also when the index is not there', async () => {
    const { store, fault, add } = await open()
    for (const isLate of [false, true]) {
      await add(code('a'))
      Object.assign(fault, { in: 1, isLate })
      expect(await store.take('a')).toEqual(code('a'))
      expect(await store.take('a')).toBeUndefined()
      await store.removeAll('acc-1')
    }
  })

  it('leaves a code that it has not taken as it was', async () => {
    const { store, fault, add } = await open()
    await add(code('a'))
    Object.assign(fault, { in: 0 })
    await expect(store.take('a')).rejects.toThrow('the connection is lost')
    expect(await store.take('a')).toEqual(code('a'))
  })

  it('removes each code that was there, at the latest when removeAll is called again', async () => {
    const { redis, store, fault, add } = await open()
    for (const isLate of [false, true]) {
      for (let number = 0; number < 3; number++) {
        await redis.flushall()
        await add(code('a'))
        Object.assign(fault, { in: number, isLate })
        await expect(store.removeAll('acc-1')).rejects.toThrow('the connection is lost')
        await store.removeAll('acc-1')
        expect(await redis.keys('*')).toEqual([])
      }
    }
  })

  it('finds a code that is added while removeAll runs at the next removeAll', async () => {
    const { redis } = await open()
    const adding = redisStore({
      async sendCommand(...command) {
        const reply = await redis.call(...command)
        // Another process removes the codes after each command.
        await redisStore({ sendCommand: (...other) => redis.call(...other) }).codes.removeAll('acc-1')
        return reply
      },
    }).codes
    const store = redisStore({ sendCommand: (...command) => redis.call(...command) }).codes
    await adding.add(code('a'), 5, new Date())
    await store.removeAll('acc-1')
    expect(await store.take('a')).toBeUndefined()
  })
})
