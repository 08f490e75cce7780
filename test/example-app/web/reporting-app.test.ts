import express from 'express'
import { requireBearer } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { createReports } from '../../../example-app/data/reports.js'
import { Outage } from '../../../example-app/errors.js'
import { createReportingApp, type ReportingDependencies } from '../../../example-app/web/reporting-app.js'
import { issueNow, makeIssuer } from '../../support/fixtures.js'
import { openDemo } from '../data/databases/databases.js'
import { ALICE, BOB, REPORT } from '../support.js'

const SCOPES = ['reports:read']

async function makeApp(overrides: Partial<ReportingDependencies> = {}) {
  const { db, accounts } = await openDemo()
  const revoked = new Set<string>()
  const issuer = makeIssuer()
  const logged: string[] = []
  const app = createReportingApp({
    url: 'https://reports.example.com',
    tokens: issuer,
    accounts,
    reports: createReports(db),
    isRevoked: ({ id }) => revoked.has(id),
    checks: {},
    log: (line) => void logged.push(line),
    ...overrides,
  })
  const idOf = async ({ email }: { email: string }) => (await accounts.findByEmail(email))?.id ?? ''
  const issue = async (scopes = SCOPES) => issueNow(issuer, { accountId: await idOf(ALICE), scopes }).token
  const get = (token: string, query = '') =>
    request(app)
      .get(REPORT + query)
      .set('Authorization', `Bearer ${token}`)
  return { app, accounts, issuer, logged, revoked, idOf, issue, get }
}

test('daily totals of the account, in both houses or in one house', async () => {
  const { issue, get } = await makeApp()
  const token = await issue()
  const { body } = await get(token).expect(200).expect('Cache-Control', 'no-store')
  expect(Object.keys(body)).toEqual(['houses'])
  const totalsOf = ({ days }: { days: { day: string; statements: number; total: string }[] }) =>
    days.map(({ day, statements, total }) => `${day} ${statements} ${total}`)
  expect(body.houses.map(totalsOf)).toEqual([
    ['2013-05-02 2 1237.50', '2013-05-03 1 899.90', '2013-05-06 1 400.05'],
    ['2013-05-02 1 3100.00', '2013-05-03 1 0.09', '2013-05-06 1 -425.00'],
  ])
  const south = await get(token, '?house=south').expect(200)
  expect(south.body).toEqual({ houses: [body.houses[1]] })
})

test('unknown house: 404; two houses: 400; both need a token', async () => {
  const { app, issue, get } = await makeApp()
  const token = await issue()
  for (const house of ['east', '', '%00']) {
    const { body } = await get(token, `?house=${house}`).expect(404)
    expect(body).toMatchObject({ code: 'unknown_house' })
  }
  const { body } = await get(token, '?house=north&house=south').expect(400)
  expect(body).toMatchObject({ code: 'bad_request' })
  await request(app).get(`${REPORT}?house=east`).expect(401)
})

describe('refusals', () => {
  test('no token: 401; missing scope: 403', async () => {
    const { app, issuer, issue, get, logged } = await makeApp()
    const without = await request(app).get(REPORT).expect(401)
    expect(without.headers['www-authenticate']).toBe(`Bearer realm="${issuer.issuer}"`)
    const { headers } = await get(await issue(['statements:read'])).expect(403)
    expect(headers['www-authenticate']).toMatch(/error="insufficient_scope".+scope="reports:read"/)
    expect(logged).toEqual([
      expect.stringMatching(/^bearer\.refused missing_token from=/),
      expect.stringMatching(/^bearer\.refused insufficient_scope account=/),
    ])
  })

  test('a revoked token, a changed password, a deleted account: 401', async () => {
    const { issue, get, issuer, revoked, accounts, idOf } = await makeApp()
    const [ended, other] = [await issue(), await issue()]
    await get(ended).expect(200)
    revoked.add((await issuer.verify(ended)).id)
    await get(ended).expect(401)
    await get(other).expect(200)
    await accounts.setPasswordHash(ALICE.email, 'another')
    await get(other).expect(401)
    await get(issueNow(issuer, { accountId: await idOf(BOB), scopes: SCOPES }).token).expect(200)
    await get(issueNow(issuer, { accountId: 'gone', scopes: SCOPES }).token).expect(401)
  })

  test('each has the response that requireBearer sends', async () => {
    const { app, issuer, issue, accounts, revoked: ended } = await makeApp()
    const revoked = await issue()
    ended.add((await issuer.verify(revoked)).id)
    const options = { tokens: issuer, accounts, scope: 'reports:read' }
    const guarded = express().use(requireBearer({ ...options, isRevoked: ({ id }) => ended.has(id) }))
    const headers = ['www-authenticate', 'cache-control', 'pragma', 'content-type']
    const sent = ['', 'Bearer', 'Basic x', 'Bearer x', `Bearer ${revoked}`, `Bearer ${await issue([])}`]
    const statuses = await Promise.all(
      sent.map(async (authorization) => {
        const [got, wanted] = await Promise.all(
          [app, guarded].map((api) => request(api).get(REPORT).set('Authorization', authorization)),
        )
        expect(got?.body).toEqual(wanted?.body)
        for (const name of headers) expect(got?.headers[name]).toBe(wanted?.headers[name])
        return got?.status
      }),
    )
    expect(statuses).toEqual([401, 400, 401, 401, 401, 403])
  })

  test('an unreachable store of revoked tokens: 503', async () => {
    const { issue, get, logged } = await makeApp({ isRevoked: () => Promise.reject(new Outage('Redis: it is down')) })
    const { body } = await get(await issue())
      .expect(503)
      .expect('Retry-After', /^\d+$/)
    expect(body).toMatchObject({ code: 'unavailable' })
    expect(logged).toEqual(['dependency.failed revocation: Redis: it is down'])
  })
})

test('no token endpoint and no JWK set: 404', async () => {
  const { app } = await makeApp()
  await request(app).post('/api/v2013/authentication/token').send(ALICE).expect(404)
  const { headers } = await request(app).get('/.well-known/jwks.json').expect(404)
  expect(headers).not.toHaveProperty('x-powered-by')
})
