import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { sql } from 'kysely'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { readPage } from '../../../support/documents/pages.js'
import { issueNow } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { NO_POSTGRES, startPostgres } from '../../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../../support/services/redis.js'
import { createSessions } from '../../../support/sessions.js'

describe.skipIf(NO_POSTGRES)('the pages on stores, with PostgreSQL', () => {
  const { run } = startExamples(import.meta.url)

  it('sql-store: is a store on the table of the page', async () => {
    process.env['DATABASE_URL'] = await (await startPostgres()).createDatabase()
    const { db, accounts } = await run('sql-store')
    onTestFinished(() => db.destroy())
    const { blocks } = readPage('docs/guides/accounts.md')
    const table = blocks.find(({ language }) => language === 'sql')?.code ?? ''
    await sql.raw(table).execute(db)
    const email = 'alice@example.com'
    await db
      .insertInto('accounts')
      .values({ email, password_hash: 'hash-1', scopes: ['reports:read'] })
      .execute()
    const { id = '' } = (await accounts.findByEmail('ALICE@example.com')) ?? {}
    const existing = { email, id, passwordHash: 'hash-1', scopes: ['reports:read'] }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()
    await db
      .updateTable('accounts')
      .set({ tokens_valid_after: new Date(1000) })
      .execute()
    expect(await accounts.findById(id)).toMatchObject({ disabled: false, tokensValidAfter: new Date(1000) })
  })

  it('stores-kysely: keeps sessions and accounts in the database', async () => {
    process.env['DATABASE_URL'] = await (await startPostgres()).createDatabase()
    const { db, accounts, store } = await run('stores-kysely')
    const sessions = createSessions(store.sessions)
    onTestFinished(() => db.destroy())
    await sql`create table users (id text, mail text, pw_hash text)`.execute(db)
    await db.insertInto('users').values({ id: 'acc-1', mail: 'alice@example.com', pw_hash: 'hash-1' }).execute()
    expect(await accounts.findByEmail('alice@example.com')).toEqual({
      id: 'acc-1',
      email: 'alice@example.com',
      passwordHash: 'hash-1',
    })
    await sessions.start({ id: 'a', accountId: 'acc-1', expiresAt: new Date(Date.now() + 60_000) })
    expect(await sessions.list('acc-1')).toMatchObject([{ id: 'a' }])
    expect(await sessions.end({ accountId: 'acc-1' }, 'a')).toBe(true)
  })
})

describe.skipIf(NO_REDIS)('the pages on stores and tokens, with Redis', () => {
  const { run } = startExamples(import.meta.url)

  /** Starts Redis with the configuration of the page, and a function that kills it and starts it again. */
  async function startAsConfigured() {
    const dir = await mkdtemp(join(tmpdir(), 'redis-'))
    onTestFinished(() => rm(dir, { recursive: true }))
    const [, section = ''] = readPage('docs/guides/stores.md').text.split('### Configure Redis')
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

  it('stores-redis: a session that has ended stays ended when Redis is killed', async () => {
    const killAndStart = await startAsConfigured()
    const { redis, store } = await run('stores-redis')
    const sessions = createSessions(store.sessions)
    onTestFinished(() => redis.disconnect())
    const expiresAt = new Date(Date.now() + 3_600_000)
    for (const id of ['ended', 'live']) await sessions.start({ id, accountId: 'acc-1', expiresAt })
    // A Redis that keeps only snapshots starts again with this one.
    await redis.save()
    expect(await sessions.end({ accountId: 'acc-1' }, 'ended')).toBe(true)
    await killAndStart()
    await redis.ping()
    expect((await sessions.list('acc-1')).map(({ id }) => id)).toEqual(['live'])
  })

  it('redis-revocation: a revoked token stays revoked when Redis is killed', async () => {
    const killAndStart = await startAsConfigured()
    const { app, redis, auth } = await run('redis-revocation', 'killed')
    onTestFinished(() => redis.disconnect())
    const { token } = issueNow(auth.tokens, { accountId: 'acc-1' })
    const signOut = () => request(app).post('/sign-out').auth(token, { type: 'bearer' })
    await signOut().expect(204)
    await killAndStart()
    await redis.ping()
    await signOut().expect(401)
  })

  it('redis-limits: counts failed logins there', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    const { app, redis } = await run('redis-limits')
    onTestFinished(() => redis.disconnect())
    // On a busy machine Redis can take too long to connect. The limits then work without it.
    await redis.ping()
    const login = () => request(app).post(TOKEN_PATH).send({ email: 'a@b.c', password: 'x' })
    for (let i = 0; i < 10; i++) await login().expect(403)
    await login().expect(429)
    // The failures at each limit, with the keys of the address and of the account.
    expect(await redis.keys('login-*')).toHaveLength(5)
  })

  it('redis-revocation: refuses a token after sign-out, and forgets it when it has expired', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    const { app, redis, auth } = await run('redis-revocation')
    onTestFinished(() => redis.disconnect())
    const { token, id, expiresAt } = issueNow(auth.tokens, { accountId: 'acc-1' })
    const signOut = () => request(app).post('/sign-out').auth(token, { type: 'bearer' })
    await signOut().expect(204)
    await signOut().expect(401)
    expect(await redis.pexpiretime(`revoked:${id}`)).toBe(expiresAt.getTime() + 60_000)
  })
})
