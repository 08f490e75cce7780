import { Validator } from '@seriousme/openapi-schema-validator'
import { createThrottle, memorySessions } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { Accounts } from '../../../../example-app/data/account-store.js'
import type { Reports } from '../../../../example-app/data/reports.js'
import type { Statements } from '../../../../example-app/data/statements.js'
import { Outage } from '../../../../example-app/errors.js'
import { createClearingHouseApp } from '../../../../example-app/web/clearing-house-app.js'
import { clearingHouseDocument, reportingDocument } from '../../../../example-app/web/documents/openapi.js'
import { createReportingApp } from '../../../../example-app/web/reporting-app.js'
import { newSession } from '../../../../src/sessions/session.js'
import { documented } from '../../../support/documents/documented.js'
import { complaintsOf } from '../../../support/documents/lint.js'
import { fastPasswords, issueNow, makeIssuer, makeStore, signingKey } from '../../../support/fixtures.js'
import { type Sent, send } from '../../../support/host.js'
import { listen } from '../../../support/http.js'
import { FOLDER, NORTH, REPORT } from '../../support.js'

const tokens = makeIssuer({ keys: signingKey('ES256') })
const URL_OF_API = 'https://api.clearing.test'
const NONE = { url: URL_OF_API, checks: {}, log: () => {} }
const accounts = makeStore() as unknown as Accounts
const throttle = createThrottle()
const down = async () => {
  throw new Outage('the database is down')
}
const broken = async () => {
  throw new Error('a fault')
}

const REPORTING = { reports: { dailyTotals: async () => [] }, isRevoked: async () => false }

const HOUSE = { id: 'north', name: 'North' }
const bearer = (...scopes: string[]): Sent => ({
  headers: { Authorization: `Bearer ${issueNow(tokens, { accountId: 'acc-1', scopes }).token}` },
})

describe('the responses of the clearing-house API match its document', () => {
  const STATEMENTS = '/api/v2013/houses/{house}/statements'
  const { check } = documented(clearingHouseDocument(URL_OF_API), { moreHeaders: true })

  async function start(statements: Partial<Statements> = {}) {
    const list = [{ id: 's-1', day: '2013-05-02', description: 'Fee', amountCents: -1250 }]
    const known: Statements = {
      findHouse: async (id) => (id === HOUSE.id ? HOUSE : undefined),
      list: async () => list,
      ...statements,
    }
    const expiresAt = new Date(Date.now() + 60_000)
    const find = (id: string) => newSession({ id, accountId: 'acc-1', expiresAt }, Date.now())
    const sessionStore = { ...memorySessions(), find }
    const page = { folder: FOLDER, reportingUrl: () => undefined }
    const passwords = fastPasswords()
    const dependencies = { tokens, accounts, statements: known, passwords, throttle, sessionStore, page, ...NONE }
    return (await listen(createClearingHouseApp(dependencies))).port
  }

  test.each<[number, Sent, Partial<Statements>?]>([
    [200, bearer('statements:read')],
    [400, { headers: { Authorization: 'Bearer' } }],
    [400, { ...bearer('statements:read'), path: NORTH.replace('north', '%ff') }],
    [401, {}],
    [403, bearer()],
    [404, { ...bearer('statements:read'), path: NORTH.replace('north', 'west') }],
    [500, bearer('statements:read'), { list: broken }],
    [503, bearer('statements:read'), { list: down }],
  ])('statements: %i', async (status, sent, statements) => {
    const response = await send(await start(statements), { method: 'GET', path: NORTH, ...sent })
    expect(response.status).toBe(status)
    check(STATEMENTS, 'get', response)
  })
})

describe('the responses of the online reporting API match its document', () => {
  const { check } = documented(reportingDocument(URL_OF_API), { moreHeaders: true })

  test.each<[number, Sent, Reports['dailyTotals']?]>([
    [200, bearer('reports:read')],
    [400, { headers: { Authorization: 'Bearer' } }],
    [400, { ...bearer('reports:read'), path: `${REPORT}?house=north&house=south` }],
    [401, {}],
    [403, bearer()],
    [404, bearer('reports:read'), async () => undefined],
    [500, bearer('reports:read'), broken],
    [503, bearer('reports:read'), down],
  ])('daily totals: %i', async (status, sent, dailyTotals) => {
    const days = [{ day: '2013-05-02', statements: 2, total: '-12.50' }]
    const reports: Reports = { dailyTotals: dailyTotals ?? (async () => [{ ...HOUSE, days }]) }
    const app = createReportingApp({ tokens, accounts, reports, isRevoked: async () => false, ...NONE })
    const response = await send((await listen(app)).port, { method: 'GET', path: REPORT, ...sent })
    expect(response.status).toBe(status)
    check(REPORT, 'get', response)
  })
})

test.each([
  ['clearing-house', clearingHouseDocument(URL_OF_API)],
  ['reporting', reportingDocument(URL_OF_API)],
])('%s: the document is valid, and a linter has nothing to say', async (_name, document) => {
  expect(await new Validator().validate(document)).toEqual({ valid: true })
  expect(await complaintsOf(document)).toEqual([])
})

test('the document names the address of its API', async () => {
  const { body } = await request(createReportingApp({ tokens, accounts, ...REPORTING, ...NONE })).get('/openapi.json')
  expect(body.servers).toEqual([{ url: URL_OF_API }])
})

test('serves the document, the page and its files, with a policy', async () => {
  const app = createReportingApp({ tokens, accounts, ...REPORTING, ...NONE })
  const { body } = await request(app).get('/openapi.json').expect(200)
  expect(body).toEqual(JSON.parse(JSON.stringify(reportingDocument(URL_OF_API))))
  const page = await request(app)
    .get('/docs')
    .expect(200)
    .expect('Content-Type', /^text\/html/)
  const policy = page.headers['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self'")
  expect(policy).not.toMatch(/unsafe|https?:/)
  expect(page.text).toMatch(/<meta name="description" content=".+"/)
  await request(app).get('/docs/').expect(200, page.text)
  for (const [, path = ''] of page.text.matchAll(/(?:src|href)="(\/[^"]*)"/g)) await request(app).get(path).expect(200)
  await request(app).get('/docs/package.json').expect(404)
  const script = (encoding: string) => request(app).get('/docs/swagger-ui.js').set('Accept-Encoding', encoding)
  const [plain, zipped] = [await script('identity').expect(200), await script('gzip').expect(200)]
  expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: expect.stringContaining('Accept-Encoding') })
  expect(Number(zipped.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 3)
  expect(zipped.text).toBe(plain.text)
})
