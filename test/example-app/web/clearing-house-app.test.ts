import { createThrottle, createTokenIssuer } from 'express-token-endpoint'
import type { Kysely } from 'kysely'
import request from 'supertest'
import { expect, test } from 'vitest'
import { signingKey } from '../../../example-app/data/signing-keys.js'
import { createStatements } from '../../../example-app/data/statements.js'
import { Outage } from '../../../example-app/errors.js'
import { type ClearingHouseDependencies, createClearingHouseApp } from '../../../example-app/web/clearing-house-app.js'
import { newSession } from '../../../src/sessions/session.js'
import { issueNow } from '../../support/fixtures.js'
import { openDemo } from '../data/databases/databases.js'
import { ALICE, BOB, FOLDER, NORTH, SIGN_OUT_PATH, SOUTH, TOKEN_PATH, tempDir } from '../support.js'

const PROBLEM = /^application\/problem\+json/

async function makeApp(overrides: Partial<ClearingHouseDependencies> = {}) {
  const { db, sessionStore, ...parts } = await openDemo()
  const { accounts } = parts
  const tokens = createTokenIssuer({ issuer: 'http://127.0.0.1:3000', keys: signingKey(await tempDir()) })
  const logged: string[] = []
  const log = (line: string) => void logged.push(line)
  const app = createClearingHouseApp({
    ...parts,
    tokens,
    statements: createStatements(db),
    throttle: createThrottle(),
    sessionStore,
    page: { folder: FOLDER, reportingUrl: () => undefined },
    checks: {},
    log,
    ...overrides,
  })
  const tokenOf = async (credentials: typeof ALICE) =>
    (await request(app).post(TOKEN_PATH).send(credentials)).body.authenticationToken as string
  const get = (path: string, token: string) => request(app).get(path).set('Authorization', `Bearer ${token}`)
  return { app, db, accounts, tokens, logged, sessionStore, tokenOf, get }
}

test('a token for a demo account', async () => {
  const { app, tokens } = await makeApp()
  const response = await request(app).post(TOKEN_PATH).send(ALICE).expect(200)
  expect(Object.keys(response.body).sort()).toEqual(['authenticationToken', 'expiration'])
  const { expiresAt, scopes } = await tokens.verify(response.body.authenticationToken)
  expect(response.body.expiration).toBe(expiresAt.toISOString())
  expect(scopes).toEqual(['statements:read', 'reports:read'])
})

test('the public keys, without private members', async () => {
  const { app, tokens } = await makeApp()
  const { body } = await request(app).get('/.well-known/jwks.json').expect(200)
  expect(body).toEqual(tokens.jwks())
  expect(body.keys).toEqual([expect.not.objectContaining({ d: expect.anything() })])
})

test('a wrong password: 403, and the reason in the log', async () => {
  const { app, logged } = await makeApp()
  const wrong = { ...ALICE, password: 'wrong-password' }
  await request(app).post(TOKEN_PATH).send(wrong).expect(403)
  expect(logged).toEqual([
    expect.stringMatching(/^token\.refused invalid_credentials wrong_password account=\S+ from=/),
  ])
})

test('one token works for both clearing houses, each with its own statements', async () => {
  const { tokenOf, get } = await makeApp()
  const token = await tokenOf(ALICE)
  const [north, south] = [await get(NORTH, token).expect(200), await get(SOUTH, token).expect(200)]
  expect(north.body.house).toEqual({ id: 'north', name: 'Clearing House North' })
  expect(south.body.house).toEqual({ id: 'south', name: 'Clearing House South' })
  const described = ({ body }: { body: { statements: { description: string }[] } }) =>
    body.statements.map(({ description }) => description)
  expect(described(north)).toEqual(['Settlement 1041', 'Clearing fee', 'Settlement 1042', 'Settlement 1043'])
  expect(described(south)).toEqual(['Settlement 77', 'Settlement 78', 'Margin call'])
  expect(north.body.statements[0]).toEqual({
    id: expect.any(String),
    day: '2013-05-02',
    description: 'Settlement 1041',
    amountCents: 125_000,
  })
  expect(north.headers['cache-control']).toBe('no-store')
})

test('an account sees its own statements only', async () => {
  const { accounts, tokens, sessionStore, get } = await makeApp()
  const accountId = (await accounts.add({ email: 'carol@example.com', passwordHash: 'none', scopes: [] })) ?? ''
  const { token, id, expiresAt } = issueNow(tokens, { accountId, scopes: ['statements:read'] })
  await sessionStore.add(newSession({ id, accountId, expiresAt }, Date.now()))
  const { body } = await get(NORTH, token).expect(200)
  expect(body.statements).toEqual([])
})

test('a token without the scope: 403', async () => {
  const { tokenOf, get, logged } = await makeApp()
  const response = await get(NORTH, await tokenOf(BOB)).expect(403)
  expect(response.headers['www-authenticate']).toContain('error="insufficient_scope"')
  expect(logged).toEqual([expect.stringMatching(/^bearer\.refused insufficient_scope account=\S+ from=/)])
})

test('the token of a deleted account, and a token issued before a password change: 401', async () => {
  const { accounts, tokens, tokenOf, get } = await makeApp()
  const token = await tokenOf(ALICE)
  await accounts.setPasswordHash(ALICE.email, 'another')
  await get(NORTH, token).expect(401)
  await get(NORTH, issueNow(tokens, { accountId: 'gone', scopes: ['statements:read'] }).token).expect(401)
})

test.each(['east', '%27', '%00', '%F0%9F%8F%A0'].map((house) => `/api/v2013/houses/${house}/statements`))(
  'unknown clearing house: 404 with a token, 401 without (%s)',
  async (path) => {
    const { app, tokenOf, get } = await makeApp()
    const response = await get(path, await tokenOf(ALICE)).expect(404)
    expect(response.body).toMatchObject({ status: 404, code: 'unknown_house' })
    await request(app).get(path).expect(401)
  },
)

test('unknown route: 404', async () => {
  const { app } = await makeApp()
  const response = await request(app).get('/nowhere').expect(404).expect('Content-Type', PROBLEM)
  expect(response.body).toEqual({ type: 'about:blank', title: 'Not Found', status: 404, code: 'not_found' })
  expect(response.headers).not.toHaveProperty('x-powered-by')
})

test('a path with an invalid URL encoding: 400', async () => {
  const { app } = await makeApp()
  const response = await request(app).get('/api/v2013/houses/%E0%A4%A/statements').expect(400)
  expect(response.body).toMatchObject({ status: 400, code: 'bad_request' })
})

test('a bug: 500, with its stack in the log and not in the response', async () => {
  const statements = { findHouse: () => Promise.reject(new Error('broken store')), list: async () => [] }
  const { tokenOf, get, logged } = await makeApp({ statements })
  const response = await get(NORTH, await tokenOf(ALICE))
    .expect(500)
    .expect('Content-Type', PROBLEM)
  const title = 'Internal Server Error'
  expect(response.body).toEqual({ type: 'about:blank', title, status: 500, code: 'internal_error' })
  expect(logged).toEqual([expect.stringMatching(/^Error: broken store\n +at /)])
})

test('a database that fails: 503, never 401 or 403', async () => {
  const { app, db, tokenOf, get, logged } = await makeApp()
  const token = await tokenOf(ALICE)
  await (db as Kysely<unknown>).schema.alterTable('accounts').renameTo('elsewhere').execute()
  await get(NORTH, token).expect(503)
  await request(app).post(TOKEN_PATH).send(ALICE).expect(503)
  expect(logged).toEqual(Array(2).fill('dependency.failed accounts: no such table: accounts'))
})

test('sign-out: revokes this token at once, and no other token of its account', async () => {
  const { app, tokenOf, get, logged } = await makeApp()
  const [token, other] = [await tokenOf(ALICE), await tokenOf(ALICE)]
  const signOut = () => request(app).post(SIGN_OUT_PATH).set('Authorization', `Bearer ${token}`)
  const response = await signOut().expect(204).expect('Cache-Control', 'no-store')
  expect(response.text).toBe('')
  await get(NORTH, token).expect(401)
  await signOut().expect(401)
  await get(NORTH, other).expect(200)
  expect(logged).toEqual(Array(2).fill(expect.stringMatching(/^bearer\.refused invalid_token revoked account=/)))
})

test('sign-out: needs a token, and no scope', async () => {
  const { app, tokenOf } = await makeApp()
  await request(app)
    .post(SIGN_OUT_PATH)
    .set('Authorization', `Bearer ${await tokenOf(BOB)}`)
    .expect(204)
  await request(app).post(SIGN_OUT_PATH).expect(401)
})

test('an outage during a request: 503, and one line in the log', async () => {
  const findHouse = () => Promise.reject(new Outage('PostgreSQL: connect ECONNREFUSED 127.0.0.1:5432'))
  const { tokenOf, get, logged } = await makeApp({ statements: { findHouse, list: async () => [] } })
  const response = await get(NORTH, await tokenOf(ALICE))
    .expect(503)
    .expect('Content-Type', PROBLEM)
    .expect('Retry-After', '1')
  expect(response.body).toMatchObject({ status: 503, code: 'unavailable' })
  expect(logged).toEqual(['PostgreSQL: connect ECONNREFUSED 127.0.0.1:5432'])
})

test('an unreachable store of sessions: 503', async () => {
  const { app, tokenOf, get, logged, sessionStore } = await makeApp()
  const token = await tokenOf(ALICE)
  sessionStore.find = () => Promise.reject(new Outage('Redis: Command timed out'))
  await get(NORTH, token).expect(503)
  await request(app).post(SIGN_OUT_PATH).set('Authorization', `Bearer ${token}`).expect(503)
  expect(logged).toEqual(Array(2).fill('dependency.failed sessions: Redis: Command timed out'))
})

test('failed logins count against the limit of the throttle', async () => {
  const throttle = createThrottle({ budgets: { pair: { points: 1, duration: '15m' } } })
  const { app } = await makeApp({ throttle })
  const guess = { ...ALICE, password: 'guess' }
  await request(app).post(TOKEN_PATH).send(guess).expect(403)
  await request(app).post(TOKEN_PATH).send(guess).expect(429)
})

test.each([
  [undefined, /127\.0\.0\.1$/],
  [0, /127\.0\.0\.1$/],
  [1, / from=203\.0\.113\.7$/],
])('with trustedProxies %s the log has the address %s', async (trustedProxies, address) => {
  const { app, logged } = await makeApp(trustedProxies === undefined ? {} : { trustedProxies })
  await request(app).get(NORTH).set('X-Forwarded-For', '203.0.113.6, 203.0.113.7').expect(401)
  expect(logged).toEqual([expect.stringMatching(/^bearer\.refused missing_token from=/)])
  expect(logged[0]).toMatch(address)
})

test('health needs no token', async () => {
  const { app } = await makeApp({ checks: { database: () => Promise.reject(new Error('down')) } })
  await request(app).get('/healthz').expect(200)
  await request(app).get('/readyz').expect(503)
})
