import { describe, expect, onTestFinished, test } from 'vitest'
import { openRedis } from '../../../example-app/data/redis.js'
import { redisSessions } from '../../../example-app/data/sessions.js'
import { Outage } from '../../../example-app/errors.js'
import { newSession } from '../../../src/sessions/session.js'
import { until } from '../../support/concurrency.js'
import { rejectionOf } from '../../support/failures.js'
import { startProxy } from '../../support/services/proxy.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { expectSessionStore } from '../../support/session-store.js'
import { expectClosed, silentPort } from './databases/databases.js'

async function open(url: string) {
  const logged: string[] = []
  const redis = await openRedis(url, (line) => logged.push(line))
  onTestFinished(() => redis.disconnect())
  return { redis, logged }
}

const expectFailure = (url: string, says: RegExp) =>
  expectClosed(
    openRedis(url, (line) => expect.fail(line)),
    says,
    ['s3cret'],
  )

const session = newSession({ id: 'one', accountId: 'acc-1', expiresAt: new Date(Date.now() + 3_600_000) }, Date.now())

describe('openRedis throws one line without the password', () => {
  test.each<[string, () => Promise<number>, RegExp]>([
    ['is unreachable', freePort, /ECONNREFUSED 127\.0\.0\.1:\d+/],
    ['never responds', silentPort, /^REDIS_URL: (?!Connection is closed)/],
  ])('when Redis %s', async (_what, portOf, says) => {
    await expectFailure(`redis://:s3cret@127.0.0.1:${await portOf()}`, says)
  })

  test.skipIf(NO_REDIS)('when Redis refuses the password, or wants one', async () => {
    const server = await startRedis()
    const { redis } = await open(server.url)
    await redis.config('SET', 'requirepass', 'another')
    await expectFailure(server.url.replace('//', '//:s3cret@'), /WRONGPASS/)
    await expectFailure(server.url, /NOAUTH/)
  })
})

describe.skipIf(NO_REDIS)('Redis', () => {
  test('logs a closed connection that emits no error', async () => {
    const proxy = await startProxy((await startRedis()).port)
    const { redis, logged } = await open(`redis://127.0.0.1:${proxy.port}`)
    proxy.cut()
    await until(() => expect(logged).toHaveLength(2))
    expect(logged).toEqual(['Redis is unreachable: the connection was closed', 'Redis is back.'])
    expect(await redis.ping()).toBe('PONG')
  })
})

describe.skipIf(NO_REDIS)('sessions', () => {
  test('pass the contract, and expire with their tokens', async () => {
    const { redis } = await open((await startRedis()).url)
    const store = redisSessions(redis)
    await expectSessionStore(store)
    expect(await redis.keys('*')).toEqual([])
    await store.add(session)
    for (const key of ['session:one', 'sessions:acc-1']) expect(await redis.pexpiretime(key)).toBe(+session.expiresAt)
    const expiresAt = new Date(+session.expiresAt + 1000)
    await store.add({ ...session, refresh: 'a' })
    expect(await store.replace?.('one', 'a', { refresh: 'b', expiresAt, lastUsedAt: new Date() })).toBe(true)
    for (const key of ['session:one', 'sessions:acc-1']) expect(await redis.pexpiretime(key)).toBe(+expiresAt)
    expect(await store.list('acc-1')).toMatchObject([{ id: 'one', expiresAt }])
  })

  test('throw an Outage when one step of a transaction fails, and when Redis is unreachable', async () => {
    const server = await startRedis()
    const { redis } = await open(server.url)
    const store = redisSessions(redis)
    const writes = [() => store.add(session), () => store.remove('one', 'acc-1')]
    const reads = [() => store.find('one'), () => store.list('acc-1'), () => store.removeAll('acc-1')]
    const expectOutage = async (call: () => unknown) => {
      const error = await rejectionOf(Promise.resolve(call()))
      expect(error).toBeInstanceOf(Outage)
      expect(String(error)).toMatch(/Redis: .+$/)
    }
    await redis.set('sessions:acc-1', 'no sorted set')
    for (const call of writes) await expectOutage(call)
    await server.kill()
    const change = { refresh: 'b', expiresAt: new Date(), lastUsedAt: new Date() }
    const changes = [() => store.touch('one', new Date()), () => store.replace?.('one', 'a', change)]
    for (const call of [...writes, ...reads, ...changes]) await expectOutage(call)
  })
})
