import request from 'supertest'
import { expect, test } from 'vitest'
import { createReports } from '../../../example-app/data/reports.js'
import { Outage } from '../../../example-app/errors.js'
import { reportingDocument } from '../../../example-app/web/documents/openapi.js'
import { createReportingApp, type ReportingDependencies } from '../../../example-app/web/reporting-app.js'
import { documented } from '../../support/documents/documented.js'
import { issueNow, makeIssuer } from '../../support/fixtures.js'
import { openDemo } from '../data/databases/databases.js'
import { ALICE, REPORT } from '../support.js'

const SCOPES = ['reports:read']
const URL_OF_API = 'https://reports.example.com'
const { check } = documented(reportingDocument(URL_OF_API), { moreHeaders: true })

async function makeApp(overrides: Partial<ReportingDependencies> = {}) {
  const { db, accounts } = await openDemo()
  const issuer = makeIssuer()
  const logged: string[] = []
  const app = createReportingApp({
    url: URL_OF_API,
    tokens: issuer,
    reports: createReports(db),
    checks: {},
    log: (line) => void logged.push(line),
    ...overrides,
  })
  const issue = async (scopes = SCOPES, { email } = ALICE) =>
    issueNow(issuer, { accountId: (await accounts.findByEmail(email))?.id ?? '', scopes }).token
  /** Gets totals, with this status and as the API's document describes it. */
  async function get(status: number, authorization: string | undefined, query = '') {
    const authorized = authorization === undefined ? {} : { Authorization: authorization }
    const response = await request(app)
      .get(REPORT + query)
      .set(authorized)
      .expect(status)
    check(REPORT, 'get', { ...response, body: response.text })
    return response
  }
  const call = (status: number, token: string, query?: string) => get(status, `Bearer ${token}`, query)
  return { app, logged, issue, get, call }
}

test('daily totals of the account, in both houses or in one house', async () => {
  const { issue, call } = await makeApp()
  const token = await issue()
  const { body, headers } = await call(200, token)
  expect(headers['cache-control']).toBe('no-store')
  const totalsOf = ({ days }: { days: { day: string; statements: number; total: string }[] }) =>
    days.map(({ day, statements, total }) => `${day} ${statements} ${total}`)
  expect(body.houses.map(totalsOf)).toEqual([
    ['2013-05-02 2 1237.50', '2013-05-03 1 899.90', '2013-05-06 1 400.05'],
    ['2013-05-02 1 3100.00', '2013-05-03 1 0.09', '2013-05-06 1 -425.00'],
  ])
  expect((await call(200, token, '?house=south')).body).toEqual({ houses: [body.houses[1]] })
})

test('unknown house: 404; two houses: 400; both need a token', async () => {
  const { issue, get, call } = await makeApp()
  const token = await issue()
  for (const house of ['east', '', '%00'])
    expect((await call(404, token, `?house=${house}`)).body).toMatchObject({ code: 'unknown_house' })
  expect((await call(400, token, '?house=north&house=south')).body).toMatchObject({ code: 'bad_request' })
  await get(401, undefined, '?house=east')
})

test.each<[string, Partial<ReportingDependencies>, number, RegExp]>([
  [
    'an unreachable database: 503',
    { reports: { dailyTotals: () => Promise.reject(new Outage('PostgreSQL: it is down')) } },
    503,
    /^PostgreSQL: it is down$/,
  ],
  ['a bug: 500', { reports: { dailyTotals: () => Promise.reject(new Error('a fault')) } }, 500, /^Error: a fault\n/],
])('%s', async (_what, overrides, status, line) => {
  const { issue, call, logged } = await makeApp(overrides)
  await call(status, await issue())
  expect(logged).toEqual([expect.stringMatching(line)])
})
