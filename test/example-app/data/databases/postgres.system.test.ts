import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../../../example-app/data/databases/postgres.js'
import { OperatorError, Outage } from '../../../../example-app/errors.js'
import { until } from '../../../support/concurrency.js'
import { rejectionOf } from '../../../support/failures.js'
import { NO_POSTGRES, PASSWORD } from '../../../support/services/postgres.js'
import { startProxy } from '../../../support/services/proxy.js'
import { freePort } from '../../../support/services/servers/free-port.mjs'
import { usePostgres } from './databases.js'

async function open(url: string) {
  const logged: string[] = []
  const db = await openPostgres(url, (line) => logged.push(line))
  onTestFinished(() => db.destroy())
  const ask = () => db.selectFrom('houses').select('id').orderBy('id').execute()
  return { db, logged, ask }
}

const HOUSES = [{ id: 'north' }, { id: 'south' }]

describe.skipIf(NO_POSTGRES)('PostgreSQL', () => {
  const createDatabase = usePostgres()

  test('creates its tables once when several processes start at the same time', async () => {
    const url = await createDatabase()
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(url)))
    for (const { ask } of opened) expect(await ask()).toEqual(HOUSES)
  })

  test('a statement needs an existing account and house', async () => {
    const { db, logged } = await open(await createDatabase())
    const statement = { id: 's', day: '2013-05-02', description: '', amount_cents: 1 }
    const orphan = db.insertInto('statements').values({ ...statement, house_id: 'north', account_id: 'nobody' })
    await expect(orphan.execute()).rejects.toMatchObject({ code: '23503' })
    expect(logged).toEqual([])
  })

  test('finds the statements of an account by an index', async () => {
    const { db } = await open(await createDatabase())
    await sql`set enable_seqscan = off`.execute(db)
    const query = db.selectFrom('statements').selectAll().where('house_id', '=', 'north').where('account_id', '=', 'a')
    expect(JSON.stringify(await query.explain())).toContain('statements_of_account')
  })

  test('a slow query ends with an Outage', async () => {
    const { db, ask } = await open(await createDatabase())
    const error = await rejectionOf(sql`select pg_sleep(60)`.execute(db))
    expect(error).toBeInstanceOf(Outage)
    expect(error).toMatchObject({ message: expect.stringMatching(/^PostgreSQL: .*timeout/) })
    expect(await ask()).toEqual(HOUSES)
  })

  test('discards a connection that no longer responds', async () => {
    const url = new URL(await createDatabase())
    const proxy = await startProxy(Number(url.port))
    url.port = `${proxy.port}`
    const { ask, logged } = await open(url.href)
    proxy.lose()
    expect(await rejectionOf(ask())).toBeInstanceOf(Outage)
    expect(await ask()).toEqual(HOUSES)
    expect(logged).toEqual(['PostgreSQL is unreachable: Query read timeout', 'PostgreSQL is back.'])
  })

  test('survives a connection that breaks while it is in use', async () => {
    const url = new URL(await createDatabase())
    const proxy = await startProxy(Number(url.port))
    url.port = `${proxy.port}`
    const { db, ask, logged } = await open(url.href)
    await db.connection().execute(async (lent) => {
      await sql`select 1`.execute(lent)
      proxy.cut()
      await until(() => expect(logged).toHaveLength(1))
      expect(await rejectionOf(sql`select 1`.execute(lent))).toBeInstanceOf(Outage)
    })
    expect(await ask()).toEqual(HOUSES)
  })

  test.each<[string, (url: URL) => void, RegExp]>([
    ['a wrong password', (url) => Object.assign(url, { password: 'wr0ng' }), /password authentication failed/],
    ['no such database', (url) => Object.assign(url, { pathname: '/nowhere' }), /"nowhere" does not exist/],
  ])('%s: one line without the password', async (_what, change, says) => {
    const url = new URL(await createDatabase())
    change(url)
    await expectFailure(url.href, says, ['wr0ng', PASSWORD, encodeURIComponent(PASSWORD)])
  })
})

test('an unreachable server: one line without the password', async () => {
  const port = await freePort()
  for (const host of ['127.0.0.1', 'localhost']) {
    await expectFailure(`postgres://user:s3cret@${host}:${port}/x`, new RegExp(`ECONNREFUSED .*:${port}`), ['s3cret'])
  }
})

test('a server that never responds: one line without the password', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await expectFailure(`postgres://user:s3cret@127.0.0.1:${port}/x`, /timeout/, ['s3cret'])
})

async function expectFailure(url: string, says: RegExp, hides: string[]): Promise<void> {
  const logged: string[] = []
  const error = (await rejectionOf(openPostgres(url, (line) => logged.push(line)))) as OperatorError
  expect(error).toBeInstanceOf(OperatorError)
  expect(error.message).toMatch(says)
  expect(error.message).toMatch(/^DATABASE_URL: .+$/)
  for (const secret of hides) expect(error.message).not.toContain(secret)
  expect(logged).toEqual([])
}
