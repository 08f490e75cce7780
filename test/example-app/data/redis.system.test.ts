import { describe, expect, onTestFinished, test } from 'vitest'
import { openRedis } from '../../../example-app/data/redis.js'
import { openSharedState } from '../../../example-app/data/shared-state.js'
import { Outage } from '../../../example-app/errors.js'
import { until } from '../../support/concurrency.js'
import { rejectionOf } from '../../support/failures.js'
import { startProxy } from '../../support/services/proxy.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { freePort } from '../../support/services/servers/free-port.mjs'
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

test.skipIf(NO_REDIS)(
  'sessions throw an Outage when Redis is unreachable, and those of an earlier version have ended',
  async () => {
    const server = await startRedis()
    const { redis } = await open(server.url)
    await redis.hset('session:old', { accountId: 'acc-1', createdAt: 0, expiresAt: 4e12, lastUsedAt: 0 })
    const {
      store: { sessions: store },
      close,
    } = await openSharedState(server.url, undefined as never, () => {})
    onTestFinished(close)
    expect(await store.find('old')).toBeUndefined()
    await server.kill()
    const error = await rejectionOf(Promise.resolve(store.find('old')))
    expect(error).toBeInstanceOf(Outage)
    expect(String(error)).toMatch(/Redis: .+$/)
  },
)
