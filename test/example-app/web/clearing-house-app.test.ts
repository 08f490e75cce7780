import { createLimits, createTokenIssuer } from 'express-token-endpoint'
import type { Kysely } from 'kysely'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { openMailBox, type SentLetter } from '../../../example-app/data/mail-box.js'
import { signingKey } from '../../../example-app/data/signing-keys.js'
import { createStatements, type Statements } from '../../../example-app/data/statements.js'
import { Outage } from '../../../example-app/errors.js'
import { type ClearingHouseDependencies, createClearingHouseApp } from '../../../example-app/web/clearing-house-app.js'
import { clearingHouseDocument } from '../../../example-app/web/documents/openapi.js'
import { newSession } from '../../../src/sessions/session.js'
import { until } from '../../support/concurrency.js'
import { documented } from '../../support/documents/documented.js'
import { issueNow } from '../../support/fixtures.js'
import { openDemo } from '../data/databases/databases.js'
import { ALICE, BOB, FOLDER, NORTH, SIGN_OUT_PATH, SOUTH, TOKEN_PATH, tempDir } from '../support.js'

const URL_OF_API = 'http://127.0.0.1:3000'
const { check } = documented(clearingHouseDocument(URL_OF_API, { jwks: true, refresh: 'cookie' }), {
  moreHeaders: true,
})

async function makeApp(overrides: Partial<ClearingHouseDependencies> = {}) {
  const { db, store, ...parts } = await openDemo()
  const { accounts } = parts
  const signing = { issuer: URL_OF_API, keys: signingKey(await tempDir()) }
  const tokens = createTokenIssuer(signing)
  const logged: string[] = []
  const app = createClearingHouseApp({
    ...parts,
    ...signing,
    statements: createStatements(db),
    limits: createLimits(),
    store,
    secrets: ['secret s'.repeat(4)],
    page: { folder: FOLDER, reportingUrl: () => undefined },
    checks: {},
    log: (line) => void logged.push(line),
    ...overrides,
  })
  const logIn = (credentials: typeof ALICE) => request(app).post(TOKEN_PATH).send(credentials)
  const tokenOf = async (credentials = ALICE) => (await logIn(credentials)).body.authenticationToken as string
  const signOut = (token: string) => request(app).post(SIGN_OUT_PATH).set('Authorization', `Bearer ${token}`)
  /** Gets statements, with this status and as the API's document describes it. */
  async function get(status: number, token: string | undefined, path = NORTH) {
    const authorized = token === undefined ? {} : { Authorization: `Bearer ${token}`.trim() }
    const response = await request(app).get(path).set(authorized).expect(status)
    check('/api/v2013/houses/{house}/statements', 'get', { ...response, body: response.text })
    return response
  }
  return { app, db, accounts, tokens, logged, sessionStore: store.sessions, logIn, tokenOf, signOut, get }
}

test('a token for a demo account, which the public keys verify', async () => {
  const { app, tokens, logIn } = await makeApp()
  const { body } = await logIn(ALICE).expect(200)
  expect(body).toEqual({ authenticationToken: expect.any(String), expiration: expect.any(String) })
  const { expiresAt, scopes } = await tokens.verify(body.authenticationToken)
  expect(body.expiration).toBe(expiresAt.toISOString())
  expect(scopes).toEqual(['statements:read', 'reports:read'])
  const published = await request(app).get('/.well-known/jwks.json').expect(200)
  expect(published.body).toEqual(tokens.jwks())
  expect(published.body.keys).toEqual([expect.not.objectContaining({ d: expect.anything() })])
})

test('one token works for both clearing houses, each with its own statements', async () => {
  const { tokenOf, get } = await makeApp()
  const token = await tokenOf()
  const [north, south] = [await get(200, token), await get(200, token, SOUTH)]
  expect(north.body.house).toEqual({ id: 'north', name: 'Clearing House North' })
  expect(north.body.statements).toHaveLength(4)
  const first = { id: expect.any(String), day: '2013-05-02', description: 'Settlement 1041', amountCents: 125_000 }
  expect(north.body.statements[0]).toEqual(first)
  expect(south.body.house).toEqual({ id: 'south', name: 'Clearing House South' })
  const described = south.body.statements.map(({ description }: { description: string }) => description)
  expect(described).toEqual(['Settlement 77', 'Settlement 78', 'Margin call'])
  expect(north.headers['cache-control']).toBe('no-store')
})

test('an account sees its own statements only', async () => {
  const { accounts, tokens, sessionStore, get } = await makeApp()
  const scopes = ['statements:read']
  const accountId = (await accounts.add({ email: 'carol@example.com', passwordHash: 'none', scopes })) ?? ''
  const { token, id, expiresAt } = issueNow(tokens, { accountId, scopes })
  await sessionStore.add(newSession({ id, accountId, expiresAt }, Date.now()))
  expect((await get(200, token)).body.statements).toEqual([])
})

test('no token: 401; a malformed header: 400; a token without the scope: 403', async () => {
  const { tokenOf, get, logged } = await makeApp()
  await get(401, undefined)
  await get(400, '')
  const { headers } = await get(403, await tokenOf(BOB))
  expect(headers['www-authenticate']).toContain('error="insufficient_scope"')
  expect(logged[2]).toMatch(/^bearer\.refused insufficient_scope account=\S+ from=/)
})

test('the token of a deleted account, and a token issued before a password change: 401', async () => {
  const { accounts, tokens, tokenOf, get } = await makeApp()
  const token = await tokenOf()
  await accounts.setPasswordHash(ALICE.email, 'another')
  await get(401, token)
  await get(401, issueNow(tokens, { accountId: 'gone', scopes: ['statements:read'] }).token)
})

test('an unknown house: 404, but 401 without a token; a path that is no text: 400; an unknown route: 404', async () => {
  const { app, tokenOf, get } = await makeApp()
  const token = await tokenOf()
  for (const house of ['east', '%27', '%00', '%F0%9F%8F%A0']) {
    const path = NORTH.replace('north', house)
    expect((await get(404, token, path)).body).toMatchObject({ status: 404, code: 'unknown_house' })
    await get(401, undefined, path)
  }
  const malformed = await get(400, token, NORTH.replace('north', '%E0%A4%A'))
  expect(malformed.body).toMatchObject({ status: 400, code: 'bad_request' })
  const { headers, body } = await request(app).get('/nowhere').expect(404)
  expect(headers['content-type']).toMatch(/^application\/problem\+json/)
  expect(body).toEqual({ type: 'about:blank', title: 'Not Found', status: 404, code: 'not_found' })
  expect(headers).not.toHaveProperty('x-powered-by')
})

test.each<[string, Error, number, string, RegExp]>([
  ['a bug: 500, with its stack only in the log', new Error('broken'), 500, 'internal_error', /^Error: broken\n +at /],
  ['an outage: 503, and one line in the log', new Outage('Postgres: gone'), 503, 'unavailable', /^Postgres: gone$/],
])('%s', async (_what, error, status, code, line) => {
  const statements: Statements = { findHouse: () => Promise.reject(error), list: async () => [] }
  const { tokenOf, get, logged } = await makeApp({ statements })
  const { body, headers } = await get(status, await tokenOf())
  expect(body).toEqual({ type: 'about:blank', title: expect.any(String), status, code })
  expect(headers['retry-after']).toBe(status === 503 ? '1' : undefined)
  expect(logged).toEqual([expect.stringMatching(line)])
})

test('a failing database, and an unreachable store of sessions: 503, never 401 or 403', async () => {
  const { db, logIn, tokenOf, signOut, get, logged, sessionStore } = await makeApp()
  const token = await tokenOf()
  const { find } = sessionStore
  sessionStore.find = () => Promise.reject(new Outage('Redis: Command timed out'))
  await get(503, token)
  await signOut(token).expect(503)
  sessionStore.find = find
  await (db as Kysely<unknown>).schema.alterTable('accounts').renameTo('elsewhere').execute()
  await get(503, token)
  await logIn(ALICE).expect(503)
  expect(logged).toEqual([
    ...Array(2).fill('dependency.failed sessions: Redis: Command timed out'),
    ...Array(2).fill(expect.stringMatching(/^dependency\.failed accounts: TypeError: .+ has no table "accounts"\./)),
  ])
})

test('sign-out: needs a token and no scope, and revokes this token at once and no other of its account', async () => {
  const { app, tokenOf, signOut, get, logged } = await makeApp()
  const [token, other] = [await tokenOf(), await tokenOf()]
  const { text } = await signOut(token).expect(204).expect('Cache-Control', 'no-store')
  expect(text).toBe('')
  await get(401, token)
  await signOut(token).expect(401)
  expect(logged).toEqual(Array(2).fill(expect.stringMatching(/^bearer\.refused invalid_token revoked account=/)))
  await get(200, other)
  await signOut(await tokenOf(BOB)).expect(204)
  await request(app).post(SIGN_OUT_PATH).expect(401)
})

test.each([
  [0, /127\.0\.0\.1$/],
  [1, / from=203\.0\.113\.7$/],
])('with trustedProxies %i the log has the address %s', async (trustedProxies, address) => {
  const { app, logged } = await makeApp(trustedProxies === 0 ? {} : { trustedProxies })
  await request(app).get(NORTH).set('X-Forwarded-For', '203.0.113.6, 203.0.113.7').expect(401)
  expect(logged).toEqual([expect.stringMatching(/^bearer\.refused missing_token from=/)])
  expect(logged[0]).toMatch(address)
})

describe('the account routes', () => {
  const ACCOUNT = '/auth/account'
  const CAROL = { email: 'carol@example.com', password: 'a good long password' }

  async function makeMailing() {
    const mailBox = openMailBox(await tempDir())
    const letters = (count: number) =>
      until(async () => {
        expect(mailBox.list()).toHaveLength(count)
        return mailBox.list()
      })
    return { ...(await makeApp({ mailBox })), letters }
  }
  const codeIn = (letter: SentLetter | undefined) => letter?.link?.split('=')[1] ?? ''

  test('a mailed link leads to the page, and its code makes an account that reads its own statements only', async () => {
    const { app, letters, get, logged } = await makeMailing()
    await request(app).post(ACCOUNT).send({ email: CAROL.email }).expect(202)
    const [letter] = await letters(1)
    expect(letter).toMatchObject({ to: CAROL.email, subject: 'Create your account' })
    expect(letter?.link).toMatch(/^http:\/\/127\.0\.0\.1:3000\/#sign-up=[\w-]+$/)
    const body = { code: codeIn(letter), password: CAROL.password }
    const { authenticationToken: token } = (await request(app).post(`${ACCOUNT}/confirm`).send(body).expect(200)).body
    expect((await get(200, token)).body.statements).toEqual([])
    const own = await request(app).get('/api/v2013/account').set('Authorization', `Bearer ${token}`).expect(200)
    check('/api/v2013/account', 'get', { ...own, body: own.text })
    expect(own.body).toEqual({ email: CAROL.email, secondFactor: false })
    expect(logged).toEqual([expect.stringMatching(/^account\.created account=\S+ from=/)])
    expect(logged.join()).not.toContain(body.code)
  })

  test('a deleted account leaves no statements, and its address gets an account with another id', async () => {
    const { app, db, accounts, tokenOf } = await makeMailing()
    const { id } = (await accounts.findByEmail(ALICE.email)) ?? {}
    const token = await tokenOf()
    await request(app).delete(ACCOUNT).set('Authorization', `Bearer ${token}`).expect(204)
    expect(await accounts.findByEmail(ALICE.email)).toBeUndefined()
    const statements = db
      .selectFrom('statements')
      .selectAll()
      .where('account_id', '=', id ?? '')
    expect(await statements.execute()).toEqual([])
    expect(await accounts.add({ email: ALICE.email, passwordHash: 'x', scopes: [] })).not.toBe(id)
  })

  test('without a mailbox, the routes that mail a code are off, and the others work', async () => {
    const { app, tokenOf } = await makeApp()
    const { paths } = (await request(app).get('/openapi.json').expect(200)).body
    const listed = Object.keys(paths).filter((path) => path.startsWith(ACCOUNT))
    expect(listed.slice(0, 2)).toEqual([`${ACCOUNT}/password`, ACCOUNT])
    expect(listed.filter((path) => /address|confirm$|forgotten|reset/.test(path))).toEqual([`${ACCOUNT}/totp/confirm`])
    for (const path of [ACCOUNT, `${ACCOUNT}/password/forgotten`, `${TOKEN_PATH}/mail`])
      await request(app).post(path).send({ email: ALICE.email }).expect(404)
    await request(app).get('/mailbox').expect(404)
    const change = { password: ALICE.password, newPassword: CAROL.password }
    const authorized = { Authorization: `Bearer ${await tokenOf()}` }
    await request(app).post(`${ACCOUNT}/password`).set(authorized).send(change).expect(204)
  })

  test('with a mailbox, the document has all of them', async () => {
    const { app } = await makeMailing()
    const { paths } = (await request(app).get('/openapi.json').expect(200)).body
    const path = (end: string) => ACCOUNT + end
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        ...['', '/confirm', '/password', '/password/forgotten', '/password/reset', '/address', '/address/confirm'].map(
          path,
        ),
        ...['/mail', '/mail/confirm', '/confirm'].map((end) => TOKEN_PATH + end),
      ]),
    )
  })
})
