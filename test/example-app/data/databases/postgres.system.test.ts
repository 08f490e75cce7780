import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../../../example-app/data/databases/postgres.js'
import { Outage } from '../../../../example-app/errors.js'
import { until } from '../../../support/concurrency.js'
import { rejectionOf } from '../../../support/failures.js'
import { NO_POSTGRES, PASSWORD } from '../../../support/services/postgres.js'
import { startProxy } from '../../../support/services/proxy.js'
import { freePort } from '../../../support/services/servers/free-port.mjs'
import { expectClosed, expectNewColumns, expectNewSessions, silentPort, usePostgres } from './databases.js'

async function open(url: string) {
  const logged: string[] = []
  const db = await openPostgres(url, (line) => logged.push(line))
  onTestFinished(() => db.destroy())
  const ask = () => db.selectFrom('houses').select('id').orderBy('id').execute()
  return { db, logged, ask }
}

const unused = (line: string) => expect.fail(line)
const HOUSES = [{ id: 'north' }, { id: 'south' }]

describe.skipIf(NO_POSTGRES)('PostgreSQL', () => {
  const createDatabase = usePostgres()
  const openBehindProxy = async () => {
    const url = new URL(await createDatabase())
    const proxy = await startProxy(Number(url.port))
    return { proxy, ...(await open(Object.assign(url, { port: proxy.port }).href)) }
  }

  test('drops the sessions of an earlier version, also when several processes start at once', async () => {
    const url = await createDatabase()
    const openAgain = async () => (await open(url)).db
    await expectNewSessions(await openAgain(), openAgain)
  })

  test('adds the columns that an earlier version did not have, also when several processes start at once', async () => {
    const url = await createDatabase()
    const openAgain = async () => (await open(url)).db
    await expectNewColumns(await openAgain(), openAgain)
  })

  test('discards a connection that no longer responds', async () => {
    const { proxy, ask, logged } = await openBehindProxy()
    proxy.lose()
    expect(await rejectionOf(ask())).toBeInstanceOf(Outage)
    expect(await ask()).toEqual(HOUSES)
    expect(logged).toEqual(['PostgreSQL is unreachable: Query read timeout', 'PostgreSQL is back.'])
  })

  test('survives a connection that breaks while it is in use', async () => {
    const { proxy, db, ask, logged } = await openBehindProxy()
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
    await expectClosed(openPostgres(url.href, unused), says, ['wr0ng', PASSWORD, encodeURIComponent(PASSWORD)])
  })
})

test.each<[string, () => Promise<number>, RegExp]>([
  ['an unreachable server', freePort, /ECONNREFUSED .*:\d+/],
  ['a server that never responds', silentPort, /timeout/],
])('%s: one line without the password', async (_what, portOf, says) => {
  const port = await portOf()
  for (const host of ['127.0.0.1', 'localhost'])
    await expectClosed(openPostgres(`postgres://user:s3cret@${host}:${port}/x`, unused), says, ['s3cret'])
})
