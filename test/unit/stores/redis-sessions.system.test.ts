// Tests stores/redis-sessions.ts
import { type RedisStoreOptions, redisStore } from 'express-token-endpoint/redis'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newSession } from '../../../src/sessions/session.js'
import { expectCodeStore } from '../../support/code-store.js'
import { expectFactorStore } from '../../support/factor-store.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { startCluster } from '../../support/services/redis-cluster.js'
import { expectSessionStore } from '../../support/session-store.js'

type SendCommand = RedisStoreOptions['sendCommand']

const sendWith =
  (redis: Redis): SendCommand =>
  async (...command) =>
    redis.call(...command)

const session = (id: string, lifetime = 60_000) =>
  newSession({ id, accountId: 'acc-1', expiresAt: new Date(Date.now() + lifetime) }, Date.now())

async function open(prefix?: string) {
  const server = await startRedis()
  const [one, two] = [new Redis(server.url), new Redis(server.url)]
  onTestFinished(() => {
    for (const redis of [one, two]) redis.disconnect()
  })
  const [store, otherStore] = [one, two].map((redis) => redisStore({ sendCommand: sendWith(redis), prefix }).sessions)
  return { redis: one, store: store as ReturnType<typeof redisStore>['sessions'], otherStore }
}

describe.skipIf(NO_REDIS)('the sessions of redisStore', () => {
  it('fulfils the contract of a session store', async () => {
    const { store, otherStore } = await open()
    await expectSessionStore(store, otherStore)
  })

  it('fulfils the contract with node-redis', async () => {
    const client = createClient({ url: (await startRedis()).url })
    await client.connect()
    onTestFinished(() => client.destroy())
    const store = redisStore({ sendCommand: (...command) => client.sendCommand(command) }).sessions
    await expectSessionStore(store)
  })

  it('fulfil the contract with the codes and the factors on a cluster of three nodes, with ioredis and node-redis', async () => {
    const ports = await startCluster()
    const cluster = new Cluster(ports.map((port) => ({ host: '127.0.0.1', port })))
    onTestFinished(() => cluster.disconnect())
    const client = createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) })
    await client.connect()
    onTestFinished(() => client.destroy())
    const withCluster: SendCommand = (...command) => cluster.call(...command)
    const withOther: SendCommand = (...command) =>
      client.sendCommand(command[0] === 'EVAL' ? command[3] : command[1], false, command)
    const [store, other] = [redisStore({ sendCommand: withCluster }), redisStore({ sendCommand: withOther })]
    await expectSessionStore(store.sessions, other.sessions)
    await expectCodeStore(store.codes, other.codes)
    await expectFactorStore(store.factors, other.factors)
  })

  it('lets its keys expire with the last session of an account, also after a refresh', async () => {
    const { redis, store } = await open('app:')
    await store.add({ ...session('a', 60_000), refresh: 'r1' })
    await store.add(session('b', 30_000))
    const expiresAt = new Date(Date.now() + 90_000)
    expect(await store.replace('a', 'r1', { refresh: 'r2', expiresAt, lastUsedAt: new Date() })).toBe(true)
    const ends = await Promise.all(
      ['app:session:a', 'app:session:b', 'app:session:of acc-1'].map((key) => redis.pexpiretime(key)),
    )
    expect(ends[0]).toBe(expiresAt.getTime())
    expect(ends[2]).toBe(expiresAt.getTime())
    expect(await redis.zscore('app:session:of acc-1', 'a')).toBe(String(expiresAt.getTime()))
    expect((await redis.keys('*')).sort()).toEqual(['app:session:a', 'app:session:b', 'app:session:of acc-1'])
  })

  it('ends a session that is in the index only, and lists none of it', async () => {
    const { redis, store } = await open()
    await store.add(session('a'))
    await redis.del('session:a')
    expect(await store.list('acc-1')).toEqual([])
    expect(await store.removeAll('acc-1')).toBe(false)
  })

  it('ends a session that has expired by the clock of another process', async () => {
    const { store } = await open()
    await store.add(session('a', 60_000))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
    onTestFinished(() => void vi.useRealTimers())
    await store.add(session('b', 60_000))
    expect(await store.removeAll('acc-1', 'b')).toBe(true)
    expect(await store.find('a')).toBeUndefined()
  })

  it.each(['{app}:', 'a{}b:', 'ö '])('keeps accounts of any id apart, with the prefix %j', async (prefix) => {
    const { store } = await open(prefix)
    const ids = ['a', 'a}', '{a', ' a', 'of a', 'a\nb', '\0', '"', '\\', '🦊', '%d', '[1,2]', '9007199254740993']
    const change = { refresh: 'r2', expiresAt: new Date(4e12), lastUsedAt: new Date(3e12) }
    for (const [i, accountId] of ids.entries()) {
      await store.add({ ...session(`s${i}`), accountId, refresh: 'r1' })
      await store.touch(`s${i}`, new Date(2e12))
      expect(await store.find(`s${i}`)).toMatchObject({ accountId, refresh: 'r1', lastUsedAt: new Date(2e12) })
      expect(await store.replace(`s${i}`, 'r1', change)).toBe(true)
      expect(await store.list(accountId)).toMatchObject([{ id: `s${i}`, accountId, ...change }])
    }
    expect(await store.removeAll('a')).toBe(true)
    expect(await Promise.all(ids.map(async (id) => (await store.list(id)).length))).toEqual(
      ids.map((id) => +(id !== 'a')),
    )
  })

  it('lists a session that was added while the account’s sessions ended', async () => {
    const { redis, otherStore } = await open()
    let adds = 0
    const store = redisStore({
      async sendCommand(...command) {
        if (command[0] === 'EVAL' && ++adds === 2) await otherStore?.removeAll('acc-1')
        return redis?.call(...command)
      },
    }).sessions
    await store.add(session('a'))
    expect(await store.list('acc-1')).toMatchObject([{ id: 'a' }])
    expect(await store.remove('a', 'acc-1')).toBe(true)
    expect(await redis?.keys('*')).toEqual([])
  })

  it('stores nothing when a session is refreshed that has ended', async () => {
    const { redis, store } = await open()
    const change = { refresh: 'r2', expiresAt: new Date(Date.now() + 60_000), lastUsedAt: new Date() }
    expect(await store.replace('a', 'r1', change)).toBe(false)
    expect(await redis?.keys('*')).toEqual([])
  })

  it('finds no session by an id that a client made from a key', async () => {
    const { store } = await open()
    await store.add(session('a'))
    for (const id of ['of:acc-1', 'of', 'session:a']) {
      expect(await store.find(id)).toBeUndefined()
      expect(await store.remove(id, 'acc-1')).toBe(false)
    }
  })

  it('says what is wrong with a function that returns nothing, or another reply', async () => {
    const nothing = redisStore({ sendCommand: (async () => {}) as never }).sessions
    expect(String(await rejectionOf(Promise.resolve(nothing.find('a'))))).toContain('Is a "return" missing?')
    const parsed = redisStore({ sendCommand: async () => ({ accountId: 'acc-1' }) }).sessions
    expect(String(await rejectionOf(Promise.resolve(parsed.find('a'))))).toContain('reply from Redis unchanged')
    const withCallbacks = redisStore({ sendCommand: async () => true }).sessions
    const added = Promise.resolve(withCallbacks.add(session('a')))
    expect(String(await rejectionOf(added))).toContain('reply from Redis unchanged')
    expectMisuse(() => redisStore({} as never).sessions, '"sendCommand" must be a function that sends a command')
    expectMisuse(() => redisStore({ client: {} } as never).sessions, 'Did you mean "sendCommand"?')
    const sendCommand = async () => null
    expectMisuse(() => redisStore({ sendCommand, prefix: '' }).sessions, '"prefix" must be a non-empty text')
    expectMisuse(() => redisStore({ sendCommand, prefx: 'a' } as never).sessions, 'Did you mean "prefix"?')
  })

  it('rejects while Redis refuses to write, and loses nothing', async () => {
    const { redis, store } = await open()
    await store.add({ ...session('a'), refresh: 'r1' })
    await redis.config('SET', 'min-replicas-to-write', '1')
    const change = { refresh: 'r2', expiresAt: new Date(Date.now() + 90_000), lastUsedAt: new Date() }
    expect(String(await rejectionOf(Promise.resolve(store.replace('a', 'r1', change))))).toContain('NOREPLICAS')
    expect(await store.find('a')).toMatchObject({ refresh: 'r1' })
    await redis.config('SET', 'min-replicas-to-write', '0')
    expect(await store.replace('a', 'r1', change)).toBe(true)
  })
})
