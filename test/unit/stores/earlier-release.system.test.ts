import { hash } from 'node:crypto'
import express from 'express'
import type { Store } from 'express-token-endpoint'
import { createTables, kyselyStore } from 'express-token-endpoint/kysely'
import { redisStore } from 'express-token-endpoint/redis'
import { Redis } from 'ioredis'
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { createPool } from 'mysql2'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { authWith } from '../../support/auth.js'
import { readPage } from '../../support/documents/pages.js'
import { refreshTokenOfBefore } from '../../support/earlier-release.js'
import { ACCOUNTS, decodePayload, ISSUER, SECRET } from '../../support/fixtures.js'
import { asJson, send } from '../../support/host.js'
import { listen, TOKEN_PATH } from '../../support/http.js'
import { mariadb, NO_MARIADB } from '../../support/services/mariadb.js'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { expectSessionStore } from '../../support/session-store.js'

/** A session of an earlier release, and a code of its account. */
const NOW = Date.now()
const END = NOW + 86_400_000
const CODE = 'c'.repeat(43)
const SESSION = { id: 'session-1', accountId: 'acc-1', refresh: '1.3.01..1', device: '["192.0.2.1","curl/8","Laptop"]' }
const STORED = { digest: hash('sha256', JSON.stringify(['reset', CODE]), 'base64url'), data: '"more"' }
const TERMS = Buffer.from('{"scopes":[]}').toString('base64url')

/** Expects that an app accepts the session, its refresh token with terms, and the code. */
async function expectUpdated({ sessions, codes }: Store): Promise<void> {
  const { alice } = ACCOUNTS
  const accounts = { findByEmail: () => alice, findById: () => alice }
  const auth = authWith({ accounts, store: { sessions, codes }, secret: SECRET, refresh: 'body' })
  const { port } = await listen(express().use(auth.router))
  const refresh = async (refreshToken: string) =>
    send(port, { ...asJson({ refreshToken }), path: `${TOKEN_PATH}/refresh` })
  expect(await auth.sessions?.list('acc-1')).toMatchObject([{ id: 'session-1', userAgent: 'curl/8', label: 'Laptop' }])
  const facts = { sessionId: SESSION.id, generation: 3, terms: TERMS }
  const answer = await refresh(refreshTokenOfBefore(SECRET, facts, ISSUER))
  expect(answer).toMatchObject({ status: 200 })
  const { authenticationToken, refreshToken } = JSON.parse(answer.body)
  expect(decodePayload(authenticationToken)).not.toHaveProperty('scope')
  expect(await sessions.find(SESSION.id)).toMatchObject({ terms: TERMS, data: null })
  const req = { auth: await auth.tokens.verify(authenticationToken) }
  await auth.sessions?.update(req, { organisation: 'ö-1' })
  const next = await refresh(refreshToken)
  expect(decodePayload(JSON.parse(next.body).authenticationToken)).not.toHaveProperty('scope')
  const { terms, data } = (await sessions.find(SESSION.id)) ?? {}
  expect([terms, JSON.parse(data ?? '')]).toEqual([TERMS, { organisation: 'ö-1' }])
  expect(await auth.codes?.take('reset', CODE)).toEqual({ accountId: 'acc-1', data: 'more' })
  await expectSessionStore(sessions)
}

type Open = () => Promise<Kysely<unknown>>
const DATABASES: [name: string, isMissing: boolean, open: Open][] = [
  [
    'SQLite',
    false,
    async () => new Kysely({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) }),
  ],
  [
    'PostgreSQL',
    NO_POSTGRES,
    async () => {
      const connectionString = await (await startPostgres()).createDatabase()
      return new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString }) }) })
    },
  ],
  [
    'MariaDB',
    NO_MARIADB,
    async () => {
      const pool = createPool({ host: '127.0.0.1', user: 'root', database: 'app', ...(await mariadb()) })
      return new Kysely({ dialect: new MysqlDialect({ pool }) })
    },
  ],
]

describe.each(DATABASES)('tables of an earlier release in %s', (_, isMissing, open) => {
  it.skipIf(isMissing)('work with the statements of the changelog, and users stay signed in', async () => {
    const db = await open()
    onTestFinished(() => db.destroy())
    const run = (text: string) => sql.raw(text).execute(db)
    await run(`create table sessions (id varchar(255) primary key, account_id varchar(255) not null,
      created_at bigint not null, expires_at bigint not null, last_used_at bigint not null, refresh varchar(255),
      device text not null)`)
    await run(`create table codes (digest varchar(255) primary key, account_id varchar(255) not null,
      purpose varchar(255) not null, expires_at bigint not null, data text not null)`)
    const { id, accountId, refresh, device } = SESSION
    await sql`insert into sessions values (${id}, ${accountId}, ${NOW}, ${END}, ${NOW}, ${refresh}, ${device})`.execute(
      db,
    )
    const data = JSON.stringify(STORED.data)
    await sql`insert into codes values (${STORED.digest}, ${accountId}, ${'reset'}, ${END}, ${data})`.execute(db)
    const [, section = ''] = readPage('CHANGELOG.md').text.split('### Names that were never released')
    const statements = section.match(/alter table [^;]+/g) ?? []
    expect(statements).toHaveLength(2)
    await expect(createTables(db)).rejects.toThrow('the table "sessions" lacks a column. It needs id, ')
    for (const statement of statements) await run(statement)
    await createTables(db)
    await expectUpdated(kyselyStore(db))
  })
})

describe.skipIf(NO_REDIS)('keys of an earlier release in Redis', () => {
  it('work as they are, and users stay signed in', async () => {
    const redis = new Redis((await startRedis()).url)
    onTestFinished(() => redis.disconnect())
    const { id, accountId, refresh } = SESSION
    const device = { address: '192.0.2.1', userAgent: 'curl/8', label: 'Laptop' }
    await redis.hset(`session:${id}`, { found: JSON.stringify([NOW, NOW, END, refresh, accountId]), ...device })
    await redis.zadd(`session:of ${accountId}`, END, id)
    await redis.hset(`code:${STORED.digest}`, 'found', JSON.stringify(['reset', accountId, END, STORED.data]))
    await redis.zadd(`code:of ${accountId}`, END, `${STORED.digest} reset`)
    await expectUpdated(redisStore({ sendCommand: (...command) => redis.call(...command) }))
  })
})
