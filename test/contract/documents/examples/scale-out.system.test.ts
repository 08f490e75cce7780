import express from 'express'
import {
  createAuth,
  createLimits,
  createPasswords,
  type Limiter,
  type LimiterOptions,
  type Limits,
  tokenRouter,
} from 'express-token-endpoint'
import { createPool } from 'mysql2'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { RateLimiterMySQL, RateLimiterPostgres } from 'rate-limiter-flexible'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../support/concurrency.js'
import { get, startExamples, tokenFrom } from '../../../support/documents/examples.js'
import { examples, readPage } from '../../../support/documents/pages.js'
import { fastPasswords, ISSUER, makeIssuer, makeStore, SECRET } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { mariadb, NO_MARIADB } from '../../../support/services/mariadb.js'
import { NO_POSTGRES, startPostgres } from '../../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../../support/services/redis.js'

const page = readPage('docs/guides/stores.md')
const SECTION = '## Scale out to several processes'
const [, CREATE_TABLE = ''] = /(create table login_limits .*);/.exec(page.text) ?? []

let tries = 0

/**
 * Expects that two apps have one limit of ten failed logins. On a busy machine the store may respond too late, and then each app counts in memory.
 * Then it takes another account, and another client, whose network has its own limit.
 */
async function expectOneLimit(one: express.Express, two: express.Express): Promise<void> {
  for (const app of [one, two]) app.set('trust proxy', 1)
  await until(async () => {
    const email = `user-${++tries}@example.com`
    const from = `203.0.${tries >> 8}.${tries % 256}`
    const guess = (app: express.Express) =>
      request(app).post(TOKEN_PATH).set('X-Forwarded-For', from).send({ email, password: 'x' })
    for (let round = 0; round < 5; round++) for (const app of [one, two]) await guess(app).expect(403)
    for (const app of [one, two]) await guess(app).expect(429)
  })
}

describe.skipIf(NO_POSTGRES || NO_REDIS)('stores-scale-out, with PostgreSQL and Redis', () => {
  const { run } = startExamples(import.meta.url)

  async function start(name: string) {
    const { accounts, store, limits, redis, pool } = await run<{ limits: Limits; pool: pg.Pool }>(
      'stores-scale-out',
      name,
    )
    onTestFinished(async () => {
      redis.disconnect()
      await pool.end()
    })
    // On a busy machine Redis can take too long to connect. The limits then work without it.
    await redis.ping()
    const keys = { alg: 'HS256', secret: SECRET } as const
    const auth = createAuth({ issuer: ISSUER, keys, accounts, store, limits })
    const app = express().use(auth.router)
    return app.get('/me', auth.guard(), (req, res) => void res.json(req.user))
  }

  it('makes two processes share accounts, sign-outs and failed logins, with ten lines', async () => {
    const code = examples().find(({ name }) => name === 'stores-scale-out')?.code ?? ''
    expect(code.split('\n').filter((line) => line !== '')).toHaveLength(10)

    process.env['DATABASE_URL'] = await (await startPostgres()).createDatabase()
    process.env['REDIS_URL'] = (await startRedis()).url
    const owner = new pg.Pool({ connectionString: process.env['DATABASE_URL'] })
    await owner.query('create table users (id text primary key, email text not null unique, password_hash text)')
    const hash = await createPasswords().hash('secret')
    await owner.query("insert into users values ('acc-1', 'alice@example.com', $1)", [hash])
    await owner.end()

    const [one, two] = [await start('one'), await start('two')]
    const [token, other] = [await tokenFrom(one), await tokenFrom(two)]
    for (const app of [one, two]) await get(app, '/me', token).expect(200, { id: 'acc-1', email: 'alice@example.com' })
    await request(two).post('/sessions/sign-out').auth(token, { type: 'bearer' }).expect(204)
    for (const app of [one, two]) await get(app, '/me', token).expect(401)
    for (const app of [one, two]) await get(app, '/me', other).expect(200)
    await expectOneLimit(one, two)
  })
})

describe('the failed-login limits of the page', () => {
  /** Returns the function of a row of the page. */
  function limiterOf(row: string, pool: unknown): (options: LimiterOptions) => Limiter {
    const [, code = ''] = page.tableIn(SECTION).find(([name = '']) => name.startsWith(row)) ?? []
    const names = { RateLimiterPostgres, RateLimiterMySQL, pool }
    return new Function(...Object.keys(names), `return ${code.replaceAll('`', '')}`)(...Object.values(names))
  }

  const appWith = (limiter: (options: LimiterOptions) => Limiter) =>
    express().use(
      tokenRouter({
        tokens: makeIssuer(),
        accounts: makeStore(),
        passwords: fastPasswords(),
        limits: createLimits({ limiter }),
      }),
    )

  it.skipIf(NO_POSTGRES)('are shared by two processes on PostgreSQL', async () => {
    const connectionString = await (await startPostgres()).createDatabase()
    const pools = [new pg.Pool({ connectionString }), new pg.Pool({ connectionString })] as const
    onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end()))))
    await pools[0].query(CREATE_TABLE)
    // On a busy machine the first connection can take too long. The limits then work without the store.
    for (const pool of pools) await Promise.all([1, 2, 3, 4].map(() => pool.query('select 1')))
    const [one, two] = pools.map((pool) => appWith(limiterOf('PostgreSQL', pool)))
    await expectOneLimit(one as express.Express, two as express.Express)
    expect((await pools[0].query('select from login_limits')).rowCount).toBeGreaterThan(0)
  })

  it.skipIf(NO_MARIADB)('are shared by two processes on MariaDB', async () => {
    const options = { host: '127.0.0.1', user: 'root', database: 'app', ...(await mariadb()) }
    const pools = [createPool(options), createPool(options)]
    const owner = await createConnection(options)
    onTestFinished(async () => {
      for (const pool of pools) await pool.promise().end()
      await owner.end()
    })
    await owner.query(CREATE_TABLE.replace('key', '`key`'))
    for (const pool of pools) await Promise.all([1, 2, 3, 4].map(() => pool.promise().query('select 1')))
    const [one, two] = pools.map((pool) => appWith(limiterOf('MySQL', pool)))
    await expectOneLimit(one as express.Express, two as express.Express)
    expect((await owner.query('select * from login_limits'))[0]).not.toEqual([])
  })
})
