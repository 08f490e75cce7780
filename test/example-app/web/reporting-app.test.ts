import { generateKeyPairSync } from 'node:crypto'
import { createPasswords, createTokenIssuer, createTokenVerifier, remoteKeys } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAccountStore } from '../../../example-app/data/account-store.js'
import { openDatabase } from '../../../example-app/data/databases/database.js'
import { addDemoData } from '../../../example-app/data/demo.js'
import { createReports } from '../../../example-app/data/reports.js'
import { databaseRevocation } from '../../../example-app/data/revocation.js'
import { Outage } from '../../../example-app/failure.js'
import { createReportingApp, type ReportingParts } from '../../../example-app/web/reporting-app.js'
import { answering, startSource } from '../../support/jwks-source.js'
import { ALICE, BOB, REPORT, tempDir } from '../support.js'

const ISSUER = 'http://127.0.0.1:3000'
const MINUTE = 60_000
const SCOPES = ['reports:read']

const newKey = () =>
  ({ alg: 'ES256', privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }) as const

/** The reporting API, and an issuer that shows its keys elsewhere. */
async function makeApp(parts: Partial<ReportingParts> = {}) {
  const db = await openDatabase({ dataDir: await tempDir(), databaseUrl: undefined }, () => {})
  onTestFinished(() => db.destroy())
  await addDemoData(db, createPasswords())
  const accounts = createAccountStore(db)
  const issuer = createTokenIssuer({ issuer: ISSUER, keys: newKey(), lifetime: '1 day' })
  const source = await startSource(issuer.jwks())
  let now = Date.now()
  const errors: string[] = []
  const keys = remoteKeys(source.url, {
    clock: () => now,
    cooldown: '30s',
    maxAge: '10m',
    keepFor: '1h',
    onError: ({ message }) => errors.push(message),
  })
  const logged: string[] = []
  const revocation = databaseRevocation(db)
  const app = createReportingApp({
    tokens: createTokenVerifier({ issuer: ISSUER, keys }),
    accounts,
    reports: createReports(db),
    isRevoked: revocation.isRevoked,
    checks: {},
    log: (line) => void logged.push(line),
    ...parts,
  })
  const idOf = async ({ email }: { email: string }) => (await accounts.findByEmail(email))?.id ?? ''
  const issue = async (scopes = SCOPES, from = issuer) => from.issue({ accountId: await idOf(ALICE), scopes }).token
  const get = (token: string, query = '') =>
    request(app)
      .get(REPORT + query)
      .set('Authorization', `Bearer ${token}`)
  const pass = (time: number) => {
    now += time
  }
  return { app, accounts, issuer, source, errors, logged, revocation, idOf, issue, get, pass }
}

test('daily totals of the account, in both houses or in one', async () => {
  const { issue, get } = await makeApp()
  const token = await issue()
  const { body } = await get(token).expect(200).expect('Cache-Control', 'no-store')
  expect(body).toEqual({
    houses: [
      {
        id: 'north',
        name: 'Clearing House North',
        days: [
          { day: '2013-05-02', statements: 2, total: '1237.50' },
          { day: '2013-05-03', statements: 1, total: '899.90' },
          { day: '2013-05-06', statements: 1, total: '400.05' },
        ],
      },
      {
        id: 'south',
        name: 'Clearing House South',
        days: [
          { day: '2013-05-02', statements: 1, total: '3100.00' },
          { day: '2013-05-03', statements: 1, total: '0.09' },
          { day: '2013-05-06', statements: 1, total: '-425.00' },
        ],
      },
    ],
  })
  const south = await get(token, '?house=south').expect(200)
  expect(south.body).toEqual({ houses: [body.houses[1]] })
})

test('no such house: 404; a house that is no text: 400; both for those with a token', async () => {
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

describe('who is let in', () => {
  test('nobody without a token, nor without the scope', async () => {
    const { app, issue, get, logged } = await makeApp()
    const without = await request(app).get(REPORT).expect(401)
    expect(without.headers['www-authenticate']).toBe(`Bearer realm="${ISSUER}"`)
    const { headers } = await get(await issue(['statements:read'])).expect(403)
    expect(headers['www-authenticate']).toMatch(/error="insufficient_scope".+scope="reports:read"/)
    expect(logged).toEqual([
      expect.stringMatching(/^bearer\.refused missing_token from=/),
      expect.stringMatching(/^bearer\.refused insufficient_scope account=/),
    ])
  })

  test('nobody with the token of another issuer, also if it shares the key', async () => {
    const key = newKey()
    const [ours, theirs] = [ISSUER, 'http://127.0.0.1:4000'].map((issuer) => createTokenIssuer({ issuer, keys: key }))
    const { issue, get, source } = await makeApp()
    source.serve(ours?.jwks())
    await get(await issue(SCOPES, ours)).expect(200)
    await get(await issue(SCOPES, theirs)).expect(401)
    await get(await issue(SCOPES, createTokenIssuer({ issuer: ISSUER, keys: newKey() }))).expect(401)
  })

  test('nobody whose token was revoked, whose password is another by now, or who is gone', async () => {
    const { issue, get, issuer, revocation, accounts, idOf } = await makeApp()
    const [revoked, other] = [await issue(), await issue()]
    await get(revoked).expect(200)
    await revocation.revoke(await issuer.verify(revoked))
    await get(revoked).expect(401)
    await get(other).expect(200)
    await accounts.setPasswordHash(ALICE.email, 'another')
    await get(other).expect(401)
    await get(issuer.issue({ accountId: await idOf(BOB), scopes: SCOPES }).token).expect(200)
    await get(issuer.issue({ accountId: 'gone', scopes: SCOPES }).token).expect(401)
  })

  test('nobody while revocation cannot be asked: 503', async () => {
    const { issue, get, logged } = await makeApp({ isRevoked: () => Promise.reject(new Outage('Redis: it is away')) })
    await get(await issue()).expect(503)
    expect(logged).toEqual(['dependency.failed revocation: Redis: it is away'])
  })
})

describe('while the issuer is down', () => {
  test('goes on with the keys held; refuses with 503 when they are too old; recovers by itself', async () => {
    const { issue, get, source, pass, errors } = await makeApp()
    const token = await issue()
    await get(token).expect(200)
    await source.stop()
    for (let minute = 0; minute < 50; minute += 10) {
      pass(10 * MINUTE)
      await get(token).expect(200)
    }
    expect(errors).not.toEqual([])
    pass(10 * MINUTE)
    await get(token).expect(503).expect('Retry-After', /\d/)
    await get(await issue()).expect(503)
    await source.restart()
    pass(MINUTE)
    await get(token).expect(200)
  })

  test('nobody is let in before the keys were ever there', async () => {
    const { issue, get, source, pass, issuer } = await makeApp()
    source.serve(answering('down', 500))
    const token = await issue()
    await get(token).expect(503)
    source.serve(issuer.jwks())
    pass(MINUTE)
    await get(token).expect(200)
  })

  test('it stays ready, as long as its own parts answer', async () => {
    const { app, source } = await makeApp({ checks: { database: async () => true } })
    await source.stop()
    await request(app).get('/healthz').expect(200)
    const { body } = await request(app).get('/readyz').expect(200)
    expect(body).toEqual({ status: 'ok', parts: { database: 'ok' } })
  })
})

test('no such route: 404, no token call here', async () => {
  const { app } = await makeApp()
  await request(app).post('/api/v2013/authentication/token').send(ALICE).expect(404)
  const { headers } = await request(app).get('/.well-known/jwks.json').expect(404)
  expect(headers).not.toHaveProperty('x-powered-by')
})
