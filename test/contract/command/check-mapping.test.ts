// Tests cli/check/report/formats.ts cli/check/rows/guessable-secrets.ts
// Tests cli/check/wire/{mapping-checks,read-mapping,wire}.ts

import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { type IssuedResponse, jwksRouter, requireBearer, tokenRouter } from 'express-token-endpoint'
import jwt from 'jsonwebtoken'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROWS } from '../../../src/cli/check/rows.js'
import { MAPPING as API_MAPPING, createApp, HERE, USER } from '../../faults/apps/mapped.mjs'
import { EMAIL, PASSWORD } from '../../stacks/account.mjs'
import { createTutorial, MAPPING } from '../../stacks/express-tutorial.mjs'
import { checkReport, cli } from '../../support/cli.js'
import {
  ACCOUNTS,
  PASSWORD as ALICE,
  fastPasswords,
  makeIssuer,
  makeStore,
  signingKey,
} from '../../support/fixtures.js'
import { listen } from '../../support/http.js'
import { pairOf } from '../../support/keys.js'

const folder = mkdtempSync(join(tmpdir(), 'check-'))
afterAll(() => rmSync(folder, { recursive: true }))

const env = { CHECK_PASSWORD: PASSWORD }
let tutorial: express.Express
beforeAll(async () => {
  tutorial = await createTutorial()
})
/** Writes a mapping and returns its path. */
function mappingOf(mapping: object): string {
  const file = join(folder, 'mapping.json')
  writeFileSync(file, JSON.stringify(mapping))
  return file
}

const runWith = async (mapping: string, ...more: string[]) =>
  cli(['check', (await listen(tutorial)).url, '--email', EMAIL, '--mapping', mapping, ...more], { env })
const run = (...more: string[]) => runWith(mappingOf(MAPPING), ...more)
const reportOn = async (app: express.Express, mapping: string) =>
  checkReport([(await listen(app)).url, '--email', EMAIL, '--mapping', mapping], { env })

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

test('the usual Express tutorial: every row has a verdict, and every skipped row a reason', async () => {
  const { code, stderr, rows, rowOf, fails } = await reportOn(tutorial, mappingOf(MAPPING))
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(idsOf(rows)).toEqual(idsOf(ROWS))
  expect(rows.filter(({ verdict, detail }) => verdict === 'skipped' && !detail)).toEqual([])
  // As usual: no Cache-Control, one token a second, credentials from the query, and a challenge without a scheme.
  expect(idsOf(fails)).toEqual(expect.arrayContaining(['not-cached', 'query-ignored', 'challenge']))
  for (const id of ['login', 'wrong-password', 'same-refusal', 'guarded', 'token-accepted', 'alg-none', 'tampered']) {
    expect(rowOf(id)).toMatchObject({ verdict: 'holds' })
  }
  for (const { id, ownOnly } of ROWS)
    if (ownOnly) expect(rowOf(id)).toMatchObject({ verdict: 'skipped', detail: ownOnly })
})

test('a login that Node cannot send is reported in one line', async () => {
  const mapping = mappingOf({ ...MAPPING, login: { ...MAPPING.login, headers: { Trailer: 'x' } } })
  const { code, stdout, stderr } = await runWith(mapping)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toBe('express-token-endpoint: The login cannot be sent: ERR_HTTP_TRAILER_INVALID\n')
})

test.each([
  ['passes, with a limit on guesses', createApp(HERE), '30', []],
  ['without a limit on guesses, only that row fails', createApp(HERE, Number.POSITIVE_INFINITY), '5', ['guessing']],
])('an API without faults %s', async (_what, app, guesses, failing) => {
  const args = [(await listen(app)).url, '--email', USER.email, '--mapping', API_MAPPING, '--guesses', guesses]
  const { fails, rowOf } = await checkReport(args, { env: { CHECK_PASSWORD: USER.password } })
  expect([idsOf(fails), rowOf('guessing')?.verdict]).toEqual([failing, failing.length > 0 ? 'fails' : 'holds'])
})

describe('an API that verifies tokens of RS256 with jsonwebtoken', () => {
  const { privateKey, publicKey } = pairOf('RS256')
  const apiWith = (read: (token: string) => string) => {
    const app = express().use(express.json())
    app.post('/in', ({ body }, res) => {
      const token = jwt.sign({ sub: 'acc-1' }, privateKey, { algorithm: 'RS256', expiresIn: '1h' })
      res.status(body?.password === PASSWORD ? 200 : 401).json(body?.password === PASSWORD ? { token } : {})
    })
    app.get('/me', ({ headers }, res) => {
      try {
        jwt.verify(read(headers.authorization?.replace(/^Bearer /, '') ?? ''), publicKey, { algorithms: ['RS256'] })
        res.json({})
      } catch {
        res.status(401).json({})
      }
    })
    return app
  }
  const mapping = { login: { path: '/in' }, token: { body: 'token' }, guarded: { path: '/me' } }

  test('passes the row "spelling", because RFC 4648 allows decoders to ignore unused bits', async () => {
    const { rowOf } = await reportOn(
      apiWith((token) => token),
      mappingOf(mapping),
    )
    expect(rowOf('spelling')).toMatchObject({ verdict: 'holds' })
    expect(rowOf('tampered')).toMatchObject({ verdict: 'holds' })
  })

  test('fails the row "spelling" if it accepts padding, and the report says that this is not a forgery', async () => {
    const { rowOf } = await reportOn(
      apiWith((token) => token.replace(/=+$/, '')),
      mappingOf(mapping),
    )
    expect(rowOf('spelling')).toMatchObject({
      verdict: 'fails',
      detail: expect.stringContaining('another spelling of the signature gets 200, not 401. This is not a forgery'),
    })
  })
})

test('a router of this package with its own names passes with the mapping of the guide', async () => {
  const tokens = makeIssuer({ keys: signingKey('ES256') })
  const app = express()
  const respond = ({ token }: IssuedResponse) => ({ access_token: token, token_type: 'Bearer', expires_in: 3600 })
  const fields = { email: 'username' }
  app.use(tokenRouter({ tokens, accounts: makeStore(), passwords: fastPasswords(), path: '/login', fields, respond }))
  app.use(jwksRouter({ tokens }))
  app.get('/statements', requireBearer({ tokens }), (_req, res) => void res.json([]))
  const guide = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')
  const own = /own names.*?```json\n(.*?)```/s.exec(guide)?.[1] ?? ''
  const args = [(await listen(app)).url, '--email', ACCOUNTS.alice.email, '--mapping', mappingOf(JSON.parse(own))]
  const { code, fails, rowOf } = await checkReport(args, { env: { CHECK_PASSWORD: ALICE } })
  expect({ code, fails }).toEqual({ code: 0, fails: [] })
  for (const id of ['login', 'expiration-form', 'wrong-password', 'missing-member', 'token-accepted', 'jwks-public']) {
    expect(rowOf(id)).toMatchObject({ verdict: 'holds' })
  }
})

test('no secret of the mapping, no password and no token is printed, in any format', async () => {
  const mapping = mappingOf({
    login: { path: '/in', fields: { client_secret: { env: 'CLIENT_SECRET' } } },
    token: { body: 'token' },
    expiration: { body: 'refresh', form: 'iso' },
    guarded: { path: '/me' },
  })
  const secrets = { token: 'first-opaque-token-of-alice', refresh: 'second-opaque-token-of-alice' }
  const app = express().use(express.json(), (req, res) => {
    res.set('Cache-Control', `${req.body?.client_secret} ${secrets.token}`)
    res.status(req.body?.password === PASSWORD ? 200 : 418).json(secrets)
  })
  const { url } = await listen(app)
  for (const format of ['text', 'json', 'junit', 'sarif']) {
    const args = ['check', url, '--email', EMAIL, '--mapping', mapping, '--format', format]
    const { stdout, stderr } = await cli(args, { env: { ...env, CLIENT_SECRET: 'quite-a-secret-of-the-client' } })
    expect(stdout).toContain('expiration-form')
    for (const secret of [PASSWORD, ...Object.values(secrets), 'quite-a-secret-of-the-client']) {
      expect(stdout + stderr).not.toContain(secret)
    }
  }
})

test.each([
  [['--path', '/x'], '--path is for apps that use this package. Set "login.path" in the mapping'],
  [['--format', 'xml'], '--format must be one of text, json, junit, sarif'],
  [['--json', '--format', 'json'], 'Pass either --json or --format'],
  [['--guesses', '1'], '--guesses must be a number, a whole number from 2 to 1000, but is 1'],
])('%j is wrong usage', async (more, message) => {
  expect(await run(...more)).toEqual({ code: 2, stdout: '', stderr: `express-token-endpoint: ${message}\n` })
})

describe('a mapping that does not fit the API: the first row names the member', () => {
  const shop = express().use(express.json())
  shop.post('/in', ({ body }, res) => {
    const { name, secret } = body?.login ?? {}
    res.status(name === EMAIL && secret === PASSWORD ? 201 : 401).json({ data: { token: 'opaque-token' } })
  })
  const login = { path: '/in', user: 'login.name', password: 'login.secret' }
  const fits = { login, token: { body: 'data.token' }, statuses: { success: 201 } }
  test.each<[object, string, string]>([
    [{ statuses: {} }, 'the login gets 201, not 200', 'Is "statuses.success"'],
    [
      { login: { ...login, user: 'login.email' } },
      'the login gets 401, not 201',
      'Are --email and the password, and "login"',
    ],
    [{ login: { ...login, path: '/im' } }, 'the login gets 404, not 201', 'Are the URL and "login.path"'],
    [{ token: { body: '\u001b[2J\u202etoken' } }, 'the response has no text in the body at ?[2J?token', 'Is "token"'],
  ])('%j', async (members, found, hint) => {
    const { rows } = await reportOn(shop, mappingOf({ ...fits, ...members }))
    expect(rows[0]).toMatchObject({ id: 'login', verdict: 'fails' })
    expect(rows[0]?.detail).toMatch(`${found}. ${hint}`)
  })
})

test.each([
  ['control.json', /unknown member "tok\?2Jen"/],
  ['none.json', /^express-token-endpoint: --mapping: ENOENT/],
])('a mapping that is wrong is named without control characters: %s', async (name, message) => {
  writeFileSync(join(folder, 'control.json'), '{ "tok\u009b2Jen": 1 }')
  const { code, stderr } = await runWith(join(folder, name))
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})

test('--output writes the report into a file, and prints the counts', async () => {
  const file = join(folder, 'report.json')
  writeFileSync(file, 'x'.repeat(100_000))
  const { code, stdout, stderr } = await run('--format', 'json', '--output', file)
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toMatch(/^http:\S+: \d+ hold, \d+ do not, \d+ skipped\n$/)
  expect(JSON.parse(readFileSync(file, 'utf8')).rows).toHaveLength(ROWS.length)
})

test('a check that stops removes the report of an earlier check, but no link, such as /dev/stdout', async () => {
  const [report, link] = [join(folder, 'stopped.json'), join(folder, 'link.json')]
  writeFileSync(report, '{}')
  symlinkSync(join(folder, 'linked.json'), link)
  const { url } = await listen(express().use((_req, res) => void res.sendStatus(429)))
  for (const file of [report, link]) {
    const { code } = await cli(['check', url, '--email', EMAIL, '--format', 'json', '--output', file], { env })
    expect({ code, exists: existsSync(file) }).toEqual({ code: 1, exists: file === link })
  }
})

test('--output that cannot be written fails before any request', async () => {
  const { code, stdout, stderr } = await run('--output', join(folder, 'no', 'report.json'))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^express-token-endpoint: --output: ENOENT/)
})
