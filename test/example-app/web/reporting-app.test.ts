import request from 'supertest'
import { expect, test } from 'vitest'
import { createReports } from '../../../example-app/data/reports.js'
import { createReportingApp } from '../../../example-app/web/reporting-app.js'
import { issueNow, makeIssuer } from '../../support/fixtures.js'
import { openDemo } from '../data/databases/databases.js'
import { ALICE, REPORT } from '../support.js'

async function makeApp() {
  const { db, accounts } = await openDemo()
  const revoked = new Set<string>()
  const issuer = makeIssuer()
  const app = createReportingApp({
    url: 'https://reports.example.com',
    tokens: issuer,
    accounts,
    reports: createReports(db),
    isRevoked: ({ id }) => revoked.has(id),
    checks: {},
    log: () => {},
  })
  const accountId = (await accounts.findByEmail(ALICE.email))?.id ?? ''
  const issue = () => issueNow(issuer, { accountId, scopes: ['reports:read'] })
  const get = (token: string, query = '') =>
    request(app)
      .get(REPORT + query)
      .set('Authorization', `Bearer ${token}`)
  return { app, accounts, revoked, issue, get }
}

test('unknown house: 404; two houses: 400; both need a token', async () => {
  const { app, issue, get } = await makeApp()
  const { token } = issue()
  for (const house of ['east', '', '%00']) {
    const { body } = await get(token, `?house=${house}`).expect(404)
    expect(body).toMatchObject({ code: 'unknown_house' })
  }
  const { body } = await get(token, '?house=north&house=south').expect(400)
  expect(body).toMatchObject({ code: 'bad_request' })
  await request(app).get(`${REPORT}?house=east`).expect(401)
})

test('a revoked token and a changed password: 401', async () => {
  const { issue, get, revoked, accounts } = await makeApp()
  const [ended, other] = [issue(), issue()]
  revoked.add(ended.id)
  await get(ended.token).expect(401)
  await get(other.token).expect(200).expect('Cache-Control', 'no-store')
  await accounts.setPasswordHash(ALICE.email, 'another')
  await get(other.token).expect(401)
})

test('no token endpoint and no JWK set: 404', async () => {
  const { app } = await makeApp()
  await request(app).post('/api/v2013/authentication/token').send(ALICE).expect(404)
  const { headers } = await request(app).get('/.well-known/jwks.json').expect(404)
  expect(headers).not.toHaveProperty('x-powered-by')
})
