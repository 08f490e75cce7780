import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountStoreContract } from 'express-token-endpoint/testing'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newSession } from '../../../../src/sessions/session.js'
import { expectPasswordChange, startExamples } from '../../../support/documents/examples.js'
import { readPage } from '../../../support/documents/pages.js'
import { issueNow } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { NO_POSTGRES, startPostgres } from '../../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../../support/services/redis.js'
import { expectSessionStore } from '../../../support/session-store.js'

describe.skipIf(NO_POSTGRES)('the pages on accounts, with PostgreSQL', () => {
  const { run } = startExamples(import.meta.url)

  it('knex-store: is a store, and a change of password ends the tokens from before', async () => {
    process.env['DATABASE_URL'] = await (await startPostgres()).createDatabase()
    const { db, accounts, passwords, changePassword } = await run('knex-store')
    onTestFinished(() => db.destroy())
    await db.raw(`create table accounts (
      id text primary key, email text not null unique, password_hash text, disabled boolean not null default false,
      scopes text[] not null default '{}', tokens_valid_after timestamptz
    )`)
    const password_hash = await passwords.hash('secret')
    await db('accounts').insert({ id: 'acc-1', email: 'alice@example.com', password_hash, scopes: ['reports:read'] })
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash: password_hash, scopes: ['reports:read'] }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()
    await expectPasswordChange({ accounts, changePassword, passwords })
  })

  it('sessions-postgresql: is a store, which drops expired sessions', async () => {
    process.env['DATABASE_URL'] = await (await startPostgres()).createDatabase()
    const { db, store } = await run('sessions-postgresql')
    onTestFinished(() => db.destroy())
    const [table = ''] =
      /create table sessions[\s\S]*?```/.exec(readPage('docs/reference/session-stores.md').text) ?? []
    await db.raw(table.replace('```', ''))
    await expectSessionStore(store)
    await store.add(newSession({ id: 'old', accountId: 'acc-1', expiresAt: new Date(1000) }, 0))
    await store.add(newSession({ id: 'new', accountId: 'acc-1', expiresAt: new Date(2000) }, 1000))
    expect(await store.list('acc-1')).toMatchObject([{ id: 'new' }])
  })

  it('sessions-postgresql: a table from before gets its column, and keeps its sessions', async () => {
    process.env['DATABASE_URL'] = await (await startPostgres()).createDatabase()
    const { db, store } = await run('sessions-postgresql', 'before')
    onTestFinished(() => db.destroy())
    const [, table = ''] =
      /(create table sessions[\s\S]*?)```/.exec(readPage('docs/reference/session-stores.md').text) ?? []
    await db.raw(table.replace(/,\s*refresh varchar\(255\)/, ''))
    await db.raw("insert into sessions values ('old', 'acc-1', now(), now() + interval '1 hour', now())")
    const [, column = ''] =
      /(alter table sessions add column refresh varchar.*)/.exec(readPage('docs/reference/session-stores.md').text) ??
      []
    await db.raw(column)
    expect(await store.find('old')).toMatchObject({ accountId: 'acc-1', refresh: null })
    await expectSessionStore(store)
  })
})

describe.skipIf(NO_REDIS)('the pages on tokens, with Redis', () => {
  const { run } = startExamples(import.meta.url)

  /** Starts Redis with the configuration of the page, and a function that kills it and starts it again. */
  async function startAsConfigured() {
    const dir = await mkdtemp(join(tmpdir(), 'redis-'))
    onTestFinished(() => rm(dir, { recursive: true }))
    const [, section = ''] = readPage('docs/reference/sessions.md').text.split('### Configure Redis')
    const [sentence = ''] = /Set `[^.]+/.exec(section) ?? []
    const config = [...sentence.matchAll(/`([^`]+)`/g)].map(([, setting]) => setting).join('\n')
    await writeFile(`${dir}/redis.conf`, `${config}\n`)
    const server = await startRedis({ dir, config: `${dir}/redis.conf` })
    process.env['REDIS_URL'] = server.url
    return async () => {
      await server.kill()
      await server.start()
    }
  }

  it('sessions-redis: a session that has ended stays ended when Redis is killed', async () => {
    const killAndStart = await startAsConfigured()
    const { redis, store } = await run('sessions-redis', 'killed')
    onTestFinished(() => redis.disconnect())
    const expiresAt = new Date(Date.now() + 3_600_000)
    for (const id of ['ended', 'live']) await store.add(newSession({ id, accountId: 'acc-1', expiresAt }, Date.now()))
    // A Redis that keeps only snapshots starts again with this one.
    await redis.save()
    expect(await store.remove('ended', 'acc-1')).toBe(true)
    await killAndStart()
    expect(await store.find('ended')).toBeUndefined()
    expect(await store.list('acc-1')).toMatchObject([{ id: 'live' }])
  })

  it('redis-revocation: a revoked token stays revoked when Redis is killed', async () => {
    const killAndStart = await startAsConfigured()
    const { app, redis, tokens } = await run('redis-revocation', 'killed')
    onTestFinished(() => redis.disconnect())
    const { token } = issueNow(tokens, { accountId: 'acc-1' })
    const signOut = () => request(app).post('/sign-out').auth(token, { type: 'bearer' })
    await signOut().expect(204)
    await killAndStart()
    await redis.ping()
    await signOut().expect(401)
  })

  it('redis-throttle: counts failed logins there', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    const { app, redis } = await run('redis-throttle')
    onTestFinished(() => redis.disconnect())
    // On a busy machine Redis can take too long to connect. The limits then work without it.
    await redis.ping()
    const login = () => request(app).post(TOKEN_PATH).send({ email: 'a@b.c', password: 'x' })
    for (let i = 0; i < 10; i++) await login().expect(403)
    await login().expect(429)
    // The failures of each limit, and its attempts under way.
    expect(await redis.keys('login-*')).toHaveLength(6)
  })

  it('redis-revocation: refuses a token after sign-out, and forgets it when it has expired', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    const { app, redis, tokens } = await run('redis-revocation')
    onTestFinished(() => redis.disconnect())
    const { token, id, expiresAt } = issueNow(tokens, { accountId: 'acc-1' })
    const signOut = () => request(app).post('/sign-out').auth(token, { type: 'bearer' })
    await signOut().expect(204)
    await signOut().expect(401)
    expect(await redis.pexpiretime(`revoked:${id}`)).toBe(expiresAt.getTime() + 60_000)
  })

  it('sessions-redis: is a store, whose keys expire with the tokens', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    const { redis, store } = await run('sessions-redis')
    onTestFinished(() => redis.disconnect())
    await expectSessionStore(store)
    expect(await redis.keys('*')).toEqual([])
    const now = Date.now()
    for (const [id, lifetime] of Object.entries({ long: 7_200_000, short: 3_600_000 })) {
      await store.add(newSession({ id, accountId: 'acc-1', expiresAt: new Date(now + lifetime) }, now))
    }
    await store.touch('short', new Date(now + 1))
    expect(await redis.pexpiretime('session:short')).toBe(now + 3_600_000)
    const refreshed = newSession(
      { id: 'refreshed', accountId: 'acc-2', expiresAt: new Date(now + 1e6), refresh: 'a' },
      now,
    )
    await store.add(refreshed)
    await store.replace?.('refreshed', 'a', { refresh: 'b', expiresAt: new Date(now + 2e6), lastUsedAt: new Date(now) })
    for (const key of ['session:refreshed', 'sessions:acc-2']) expect(await redis.pexpiretime(key)).toBe(now + 2e6)
    await store.add({ ...refreshed, id: 'other', expiresAt: new Date(now + 1.5e6) })
    expect(await redis.zrange('sessions:acc-2', '0', '-1', 'WITHSCORES')).toEqual([
      'other',
      `${now + 1.5e6}`,
      'refreshed',
      `${now + 2e6}`,
    ])
    // A session that the block without refresh has stored.
    const { expiresAt } = refreshed
    const old = { accountId: 'acc-2', lastUsedAt: now, session: JSON.stringify({ ...refreshed, id: 'old' }) }
    await redis.hset('session:old', old)
    await redis.zadd('sessions:acc-2', +expiresAt, 'old')
    expect(await store.list('acc-2')).toMatchObject([{ id: 'old', expiresAt }, { id: 'other' }, { id: 'refreshed' }])
    expect(await store.find('old')).toMatchObject({ accountId: 'acc-2', refresh: null })
    expect(await redis.pexpiretime('sessions:acc-1')).toBe(now + 7_200_000)
    await redis.zadd('sessions:acc-1', now - 1, 'expired')
    expect((await store.list('acc-1')).map(({ id }) => id)).toEqual(['short', 'long'])
    const next = newSession({ id: 'next', accountId: 'acc-1', expiresAt: new Date(now + 9e6) }, now)
    await store.add(next)
    expect(await redis.zrange('sessions:acc-1', '0', '-1')).toEqual(['short', 'long', 'next'])
    await redis.set('sessions:acc-1', 'no sorted set')
    await expect(store.add(next)).rejects.toThrow('WRONGTYPE')
    await expect(store.remove('next', 'acc-1')).rejects.toThrow('WRONGTYPE')
  })
})
