// Tests stores/{redis-sessions,redis-commands,redis-errors}.ts
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newSession } from '../../../src/sessions/session.js'
import { COMMANDS } from '../../../src/stores/redis-errors.js'
import { expectCodeStore } from '../../support/code-store.js'
import { readPage } from '../../support/documents/pages.js'
import { expectFactorStore } from '../../support/factor-store.js'
import { rejectionOf } from '../../support/failures.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { startCluster } from '../../support/services/redis-cluster.js'
import { expectSessionStore } from '../../support/session-store.js'

type Store = ReturnType<typeof redisStore>['sessions']

const session = newSession(
  { id: 'id-1', accountId: 'acc-1', refresh: 'secret-1', label: 'secret-2', expiresAt: new Date(4e12) },
  Date.now(),
)

function storeOf(url: string, options: { username?: string; password?: string } = {}): Store {
  const redis = new Redis(url, options)
  onTestFinished(() => redis.disconnect())
  return redisStore({ sendCommand: (...command) => redis.call(...command) }).sessions
}

/** Returns the message of an error, which has no value of a session. */
async function messageOf(result: unknown): Promise<string> {
  const error = await rejectionOf(Promise.resolve(result) as Promise<unknown>)
  expect(inspect(error)).not.toMatch(/secret-|id-1/)
  return String(error)
}

/** Starts Redis with a line of its configuration. */
async function startWith(line: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'redis-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  await writeFile(`${dir}/redis.conf`, `${line}\n`)
  return (await startRedis({ dir, config: `${dir}/redis.conf` })).url
}

describe.skipIf(NO_REDIS)('an error of redisSessions', () => {
  it('is passed on if it is not an Error', async () => {
    const store = redisStore({ sendCommand: () => Promise.reject('down') }).sessions
    await expect(store.add(session)).rejects.toBe('down')
  })

  it.each([
    ['a Redis without scripts', 'rename-command EVAL ""'],
    ['a Redis without a command of a script, as an old one', 'rename-command PEXPIREAT ""'],
  ])('says what %s lacks', async (_, line) => {
    const url = await startWith(line)
    const client = createClient({ url })
    await client.connect()
    onTestFinished(() => client.destroy())
    const withNodeRedis = redisStore({ sendCommand: (...command) => client.sendCommand(command) }).sessions
    for (const store of [storeOf(url), withNodeRedis])
      expect(await messageOf(store.add(session))).toContain('Use Redis 5 or newer with scripts, and enable DEL EVAL')
  })

  it('names the commands that a user of Redis needs, and these are enough', async () => {
    const { url } = await startRedis()
    const admin = new Redis(url)
    onTestFinished(() => admin.disconnect())
    const user = { username: 'app', password: 'p' }
    await admin.acl('SETUSER', 'app', 'on', '>p', '~session:*', '~code:*', '~factor:*', '+eval', '+info')
    const expected = `the Redis user lacks permissions. Allow the keys with the "prefix", and the commands ${COMMANDS}`
    expect(await messageOf(storeOf(url, user).find('id-1'))).toContain(expected)
    expect(await messageOf(storeOf(url, user).add(session))).toContain(expected)
    await admin.acl('SETUSER', 'app', ...COMMANDS.split(' ').map((name) => `+${name}`))
    expect(readPage('docs/reference/sessions.md').text).toContain(`\`${COMMANDS}\``)
    await expectSessionStore(storeOf(url, user))
    const redis = new Redis(url, user)
    onTestFinished(() => redis.disconnect())
    const { codes, factors } = redisStore({ sendCommand: (...command) => redis.call(...command) })
    await expectCodeStore(codes)
    await expectFactorStore(factors)
  })

  it('says that Redis is a replica', async () => {
    const { url } = await startRedis()
    const store = storeOf(url)
    const admin = new Redis(url)
    onTestFinished(() => admin.disconnect())
    await store.add(session)
    await admin.replicaof('127.0.0.1', 1)
    const expected = 'Redis is a read-only replica. Connect to the primary'
    const change = { refresh: 'secret-3', expiresAt: new Date(4e12), lastUsedAt: new Date() }
    for (const result of [store.add(session), store.remove('id-1', 'acc-1'), store.replace('id-1', 'secret-1', change)])
      expect(await messageOf(result)).toContain(expected)
    expect(await store.find('id-1')).toMatchObject({ refresh: 'secret-1' })
  })

  it('is passed on without the values that ioredis adds', async () => {
    const { url } = await startRedis()
    const admin = new Redis(url)
    onTestFinished(() => admin.disconnect())
    await admin.config('SET', 'min-replicas-to-write', '1')
    expect(await messageOf(storeOf(url).add(session))).toContain('NOREPLICAS')
  })

  it('says that a client is not one for clusters', async () => {
    const [port] = await startCluster()
    const store = storeOf(`redis://127.0.0.1:${port}`)
    const results = await Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id) => store.find(id)))
    const failed = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))
    expect(failed).not.toEqual([])
    for (const message of failed) expect(message).toContain('part of a cluster. Connect with a cluster client')
  })

  it('says that another app uses the same keys', async () => {
    const { url } = await startRedis()
    const other = new Redis(url)
    onTestFinished(() => other.disconnect())
    await other.set('session:id-1', 'secret-1')
    expect(await messageOf(storeOf(url).find('id-1'))).toContain(
      'another app uses the same keys. Pass a different "prefix"',
    )
  })
})

describe.skipIf(NO_REDIS)('redisSessions, while a command of a call fails', () => {
  /** A store whose command of this number fails, before or after Redis has executed it. */
  async function failing() {
    const redis = new Redis((await startRedis()).url)
    onTestFinished(() => redis.disconnect())
    const fault = { in: Number.POSITIVE_INFINITY, isLate: false }
    const store = redisStore({
      async sendCommand(...command) {
        const isFailing = fault.in-- === 0
        const reply = isFailing && !fault.isLate ? undefined : await redis.call(...command)
        if (isFailing) throw new Error('the connection is lost')
        return reply
      },
    }).sessions
    return { redis, store, fault }
  }

  const change = { refresh: 'secret-3', expiresAt: new Date(5e12), lastUsedAt: new Date(3e12) }

  it.each<[string, number, (store: Store) => unknown, (found: unknown) => boolean]>([
    ['add', 2, (store) => store.add(session), (found) => found !== undefined],
    [
      'replace',
      3,
      (store) => store.replace('id-1', 'secret-1', change),
      (found) => Object(found).refresh === 'secret-3',
    ],
    ['remove', 3, (store) => store.remove('id-1', 'acc-1'), (found) => found === undefined],
    ['removeAll', 4, (store) => store.removeAll('acc-1'), (found) => found === undefined],
    ['touch', 1, (store) => store.touch('id-1', change.lastUsedAt), () => true],
  ])(
    '%s leaves the session as it was or as it should be, and the call works when repeated',
    async (method, commands, call, isDone) => {
      const { redis, store, fault } = await failing()
      for (const isLate of [false, true]) {
        for (let number = 0; number < commands; number++) {
          await redis.flushall()
          if (method !== 'add') await store.add(session)
          const before = await store.find('id-1')
          Object.assign(fault, { in: number, isLate })
          expect(await messageOf(call(store))).toContain('the connection is lost')
          const found = await store.find('id-1')
          if (!isDone(found)) expect(found).toEqual(before)
          // A session that can be found can also be ended.
          expect(await store.list('acc-1')).toHaveLength(found === undefined ? 0 : 1)
          await call(store)
          expect(isDone(await store.find('id-1'))).toBe(true)
          await store.removeAll('acc-1')
          expect(await store.find('id-1')).toBeUndefined()
        }
      }
      Object.assign(fault, { in: commands, isLate: false })
      await redis.flushall()
      if (method !== 'add')
        await redisStore({ sendCommand: (...command) => redis.call(...command) }).sessions.add(session)
      await call(store)
      expect(fault.in).toBe(0)
    },
  )
})
