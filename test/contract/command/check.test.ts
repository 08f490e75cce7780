// Tests cli/check/{app,check,report,response,row,rows,send,settings,verdict}.ts
// Tests cli/check/rows/{endpoints,guard,login,refresh,token}.ts

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import express from 'express'
import { createAuth, createLimits, memoryAccounts, memoryStore, tokenRouter } from 'express-token-endpoint'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ROWS } from '../../../src/cli/check/rows.js'
import { sender } from '../../../src/cli/check/send.js'
import { OutOfTime } from '../../../src/cli/check/verdict.js'
import {
  alteringResult,
  appOf,
  issuerOf,
  PASSWORD_CHANGE,
  REPORTS,
  STATEMENTS,
  soundParts,
  THERE,
} from '../../faults/apps/own.mjs'
import { checkReport, cli } from '../../support/cli.js'
import { readPage } from '../../support/documents/pages.js'
import { rejectionOf } from '../../support/failures.js'
import { ACCOUNTS, ISSUER, issueNow, PASSWORD, signingKey } from '../../support/fixtures.js'
import { listen } from '../../support/http.js'

const { email } = ACCOUNTS.alice
const env = { CHECK_PASSWORD: PASSWORD }
const argsFor = (url: string, ...more: string[]) => ['check', url, '--email', email, '--guarded', STATEMENTS, ...more]
const reportOn = (url: string, more: readonly string[] = [], variables: Record<string, string> = env) =>
  checkReport([url, '--email', email, '--guarded', STATEMENTS, ...more], { env: variables })
const checkApp = async (app: express.Express, ...more: string[]) => reportOn((await listen(app)).url, more)
const sound = async () => (await listen(appOf(soundParts()))).url
const issued = (options?: Parameters<typeof issuerOf>[0]) => issueNow(issuerOf(options), { accountId: 'acc-1' }).token
const yesterday = () => Date.now() - 86_400_000

async function listeningOn(server: Server): Promise<string> {
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const routerParts = () => (({ tokens, accounts, passwords }) => ({ tokens, accounts, passwords }))(soundParts())

test('each row has its verdict, its name, what holds, and its source; below it, what was found', async () => {
  const parts = soundParts()
  const before = [alteringResult((result) => ({ ...result, extra: 1 }))]
  const { url } = await listen(appOf({ ...parts, before }))
  const { code, stdout, stderr } = await cli(argsFor(url), { env })
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  const lines = stdout.split('\n')
  expect(lines.slice(0, 3)).toEqual([
    'holds   login               the correct email and password return 200 (docs/reference/http.md section 2)',
    'fails   members             the response contains only authenticationToken and expiration (docs/reference/http.md section 2)',
    '                            found: it has 1 more member',
  ])
  expect(lines).toContain('                            no --other URL was given')
  expect(lines.at(-2)).toBe(`${url}/: ${ROWS.length - 7} hold, 1 fails, 6 skipped`)
  for (const { id } of ROWS) expect(lines.filter((line) => line.split(/ +/)[1] === id)).toHaveLength(1)
})

test('--json is one object with every row', async () => {
  const url = await sound()
  const { code, stdout, stderr } = await reportOn(url)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    url: `${url}/`,
    holds: true,
    counts: { holds: ROWS.length - 6, fails: 0, skipped: 6 },
    rows: ROWS.map(({ id, title, source }) => expect.objectContaining({ id, title, source })),
  })
})

test('every row has a name of its own, and a source', () => {
  expect(new Set(ROWS.map(({ id }) => id)).size).toBe(ROWS.length)
  for (const { source } of ROWS) {
    for (const one of source.split('; ')) {
      expect(one).toMatch(/^(RFC \d{4}( sections? .+)?|OWASP ASVS 5, [\d.]+|docs\/reference\/http\.md section \d+)$/)
      // The page is in the package, so everyone who runs the command has it.
      const [, page = '', number] = /^(docs\/.+\.md) section (\d+)$/.exec(one) ?? []
      if (page) expect(readPage(page).headings.filter(({ text }) => text.startsWith(`${number}. `))).toHaveLength(1)
    }
  }
})

test('the printed report on the page counts every row', () => {
  const printed = /: (\d+) hold, (\d+) fails, (\d+) skipped/.exec(readPage('docs/reference/cli.md').text) ?? []
  expect(printed.slice(1).reduce((sum, count) => sum + Number(count), 0)).toBe(ROWS.length)
})

describe('the password', () => {
  test('comes from standard input too', async () => {
    expect((await cli(argsFor(await sound()), { input: `${PASSWORD}\n` })).code).toBe(0)
  })

  test('and no token are ever in a URL', async () => {
    const app = appOf(soundParts())
    const seen: string[] = []
    const { url } = await listen(
      express().use((req, _res, next) => {
        seen.push(decodeURIComponent(req.url))
        next()
      }, app),
    )
    await cli(argsFor(url, '--guarded', REPORTS), { env })
    expect(Math.abs(seen.length - 177)).toBeLessThan(5)
    for (const one of seen) expect(one).not.toMatch(/eyJ|correct horse|correct\+horse/)
  })
})

describe('prints no text of a server', () => {
  const TEXT = `${PASSWORD} \u009b2J`
  /** A server that has a text in every part of its responses. */
  const repeating =
    (status: number): express.RequestHandler =>
    ({ method }, res) => {
      res.statusMessage = TEXT
      for (const name of ['Cache-Control', 'Pragma', 'Allow', 'Retry-After', 'Set-Cookie']) res.setHeader(name, TEXT)
      res.setHeader('Content-Type', `text/${TEXT}`)
      res.setHeader('WWW-Authenticate', `Bearer realm="${TEXT}", error="${TEXT}", max_age="${TEXT}"`)
      const body = { [TEXT]: 1, authenticationToken: TEXT, expiration: TEXT, keys: [TEXT], exp: TEXT }
      res.status(method === 'POST' ? 200 : status).end(JSON.stringify(body))
    }

  test.each([200, 401, 418])('whose guarded paths respond with %i', async (status) => {
    const { url } = await listen(express().use(repeating(status)))
    for (const more of [[], ['--json'], ['--other', url, '--recent', STATEMENTS]]) {
      const { stdout, stderr } = await cli(argsFor(url, ...more), { env: { ...env, CHECK_OLD_TOKEN: issued() } })
      expect(stdout.split('fails').length).toBeGreaterThan(10)
      expect(stdout + stderr).not.toContain(PASSWORD)
      expect(stdout + stderr).not.toMatch(/(?!\n)\p{C}/u)
    }
  })

  test('that limits every login', async () => {
    const spent: express.RequestHandler = (_req, res) => void res.status(429).setHeader('Retry-After', TEXT).end()
    const { url } = await listen(express().use(spent))
    expect(await cli(argsFor(url), { env })).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'express-token-endpoint: The token endpoint returned 429: a failed-login limit is used up. Try again later\n',
    })
  })

  test('that does not speak HTTP', async () => {
    const url = await listeningOn(createServer((socket) => socket.end(`${TEXT}\r\n\r\n`)))
    const { stderr } = await cli(argsFor(url), { env })
    expect(stderr).toBe('express-token-endpoint: The token endpoint returned no response: HPE_INVALID_CONSTANT\n')
  })
})

test('a header that no two answers share tells nothing of an account', async () => {
  const numbered: express.RequestHandler = (_req, res, next) => {
    res.setHeader('X-Request-Id', randomUUID())
    next()
  }
  expect((await checkApp(appOf({ ...soundParts(), before: [numbered] }))).code).toBe(0)
})

test('it makes two failed logins at the account: no budget is spent by it', async () => {
  const limits = createLimits({ limits: { pair: { points: 3, duration: '1h' } } })
  const { url } = await listen(express().use(tokenRouter({ ...routerParts(), limits })))
  const { counts } = await checkReport([url, '--email', email], { env })
  expect(counts['fails']).toBe(0)
  expect(counts['holds']).toBeGreaterThan(15)
  // In the second run, the fourth failed login exceeds the limit, and the command says so.
  const again = await cli(['check', url, '--email', email], { env })
  expect(again.stdout).toContain('found: 429: a failed-login limit is used up. Try again later')
})

describe('values that cannot even be compared fail their rows, and are no crash', () => {
  const odd = { toString: 1, valueOf: 1 }
  const encoded = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url')
  const deep = (depth: number) => Buffer.from(`{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`).toString('base64url')
  const header = encoded({ alg: 'ES256', typ: 'at+jwt', kid: 'x' })

  test.each([
    ['times', `${header}.${encoded({ iat: odd, exp: odd })}.AAAA`],
    ['an algorithm', `${encoded({ alg: odd, typ: 'at+jwt', kid: odd })}.${encoded({})}.AAAA`],
    ['claims in claims', `${header}.${deep(20_000)}.AAAA`],
    ['an expiration', ACCOUNTS.alice.id],
  ])('%s', async (_what, authenticationToken) => {
    const before = [alteringResult(() => ({ authenticationToken, expiration: odd }))]
    const { code, rows } = await checkApp(appOf({ ...soundParts(), before }))
    expect({ code, rows: rows.length }).toEqual({ code: 1, rows: ROWS.length })
  })
})

test('a row that is to be skipped is not judged, and without --guarded no row about it', async () => {
  const unguarded = appOf({ ...soundParts(), guards: [[], []] })
  expect((await checkApp(unguarded)).code).toBe(1)
  const { code, rowOf } = await checkApp(unguarded, '--skip', 'guarded')
  expect([code, rowOf('guarded')]).toMatchObject([0, { verdict: 'skipped', detail: 'by --skip' }])
  const without = await checkReport([await sound(), '--email', email], { env })
  expect(without.code).toBe(0)
  expect(without.rows.filter(({ detail }) => detail === 'no --guarded PATH was given').length).toBeGreaterThan(5)
})

describe('a refused login', () => {
  test('with a wrong password, only one row fails, and few failed logins count', async () => {
    let refused = 0
    const counting: express.RequestHandler = (_req, res, next) => {
      res.on('finish', () => {
        if (res.statusCode === 403) refused++
      })
      next()
    }
    const { url } = await listen(appOf({ ...soundParts(), before: [counting] }))
    const { fails } = await reportOn(url, [], { CHECK_PASSWORD: 'mistyped' })
    const detail = 'the login returned 403, not 200. Are --email and the password right?'
    expect(fails).toMatchObject([{ id: 'login', detail }])
    // The login, the two passwords that are wrong on purpose, and the unknown address.
    expect(refused).toBe(4)
  })

  test('with a wrong path, the first row says so', async () => {
    const { fails } = await reportOn(await sound(), ['--path', '/login'])
    const detail = 'the login returned 404, not 200. Are the URL and --path right?'
    expect(fails[0]).toMatchObject({ id: 'login', detail })
  })
})

test('paths of its own, below a prefix; and a guarded URL elsewhere', async () => {
  const app = express().use('/api', tokenRouter({ ...routerParts(), path: '/token' }))
  const { url } = await listen(app)
  const elsewhere = `${await sound()}${STATEMENTS}?page=1`
  const args = [`${url}/api/`, '--path', '/token', '--email', email, '--guarded', elsewhere]
  const { code, fails, rowOf } = await checkReport(args, { env })
  expect({ code, fails }).toEqual({ code: 0, fails: [] })
  expect(rowOf('query-token')?.verdict).toBe('holds')
})

test.each([
  ['holds', { issuer: 'https://sandbox.example.com' }],
  ['fails', {}],
])('a CHECK_FOREIGN_TOKEN must be refused: %s for %j', async (verdict, options) => {
  const { rowOf } = await reportOn(await sound(), [], { ...env, CHECK_FOREIGN_TOKEN: issued(options) })
  expect(rowOf('foreign-token')).toMatchObject({ verdict })
})

const EXPIRED = issued({ clock: yesterday })
const ABROAD = 'is from a different environment. Set it to a token from this environment'
test.each([
  ['CHECK_FOREIGN_TOKEN', 'null', 'is not a JWT. Set it to an access token'],
  ['CHECK_FOREIGN_TOKEN', 'two\nlines', 'is not a JWT. Set it to an access token'],
  ['CHECK_EXPIRED_TOKEN', 'abc', 'is not a JWT. Set it to an access token'],
  ['CHECK_OLD_TOKEN', 'eyJhbGciOiJFUzI1NiJ9', 'is not a JWT. Set it to an access token'],
  ['CHECK_FOREIGN_TOKEN', EXPIRED, 'has expired. Set it to a token that is still valid'],
  ['CHECK_OLD_TOKEN', EXPIRED, 'has expired. Set it to a token that is still valid'],
  ['CHECK_EXPIRED_TOKEN', issued(), 'is still valid. Set it to a token that has expired'],
  ['CHECK_EXPIRED_TOKEN', issued({ issuer: THERE, clock: yesterday }), ABROAD],
  ['CHECK_OLD_TOKEN', issued({ issuer: THERE }), ABROAD],
])('%s=%s is wrong usage', async (name, token, says) => {
  const { code, stdout, stderr } = await cli(argsFor(await sound(), '--recent', PASSWORD_CHANGE), {
    env: { ...env, [name]: token },
  })
  expect([code, stdout, stderr]).toEqual([2, '', `express-token-endpoint: ${name} ${says}\n`])
})

test('an account of its own at the other environment', async () => {
  const there = soundParts(issuerOf({ issuer: 'https://sandbox.example.com' }))
  const bob = { ...ACCOUNTS.bob, passwordHash: 'another password' }
  const { url } = await listen(appOf({ ...there, accounts: (email) => (email === bob.email ? bob : null) }))
  const args = ['--other', url, '--other-email', bob.email]
  const right = await reportOn(await sound(), args, { ...env, CHECK_OTHER_PASSWORD: 'another password' })
  expect([right.rowOf('foreign-token'), right.rowOf('token-abroad')]).toMatchObject(Array(2).fill({ verdict: 'holds' }))
  const wrong = await reportOn(await sound(), args)
  const detail = 'the other environment gave no token'
  expect(wrong.rowOf('foreign-token')).toMatchObject({ verdict: 'fails', detail })
})

test('another environment that does not respond fails its rows, with the reason', async () => {
  const { fails } = await reportOn(await sound(), ['--other', 'http://127.0.0.1:9'])
  const detail = 'no response: ECONNREFUSED'
  expect(fails).toMatchObject([
    { id: 'foreign-token', detail },
    { id: 'token-abroad', detail },
    { id: 'refresh-foreign', detail },
  ])
})

describe('where nobody answers', () => {
  test('it is one line, and exit status 1', async () => {
    const server = createServer()
    const url = await listeningOn(server)
    server.close()
    const { code, stdout, stderr } = await cli(argsFor(url), { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe('express-token-endpoint: The token endpoint returned no response: ECONNREFUSED\n')
  })

  test('a server that is silent is waited for no longer than --timeout', async () => {
    const { url } = await listen(express().use(() => {}))
    const { stderr } = await cli(argsFor(url, '--timeout', '50ms'), { env })
    expect(stderr).toBe('express-token-endpoint: The token endpoint returned no response: none within 50 ms\n')
  })
})

describe('--max-time', () => {
  test('ends the check after 5 minutes, and the rows that it did not reach fail', async () => {
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    onTestFinished(() => clock.mockRestore())
    const slow: express.RequestHandler = (_req, _res, next) => {
      passed = 300_000
      next()
    }
    const { guards, ...parts } = soundParts()
    const app = appOf({ ...parts, guards: [[slow, ...guards[0]], guards[1]] })
    const { code, holds, rows } = await checkApp(app)
    expect({ code, holds, rows: rows.length }).toEqual({ code: 1, holds: false, rows: ROWS.length })
    const late = rows.filter(({ detail }) => detail === 'not checked, because --max-time is over')
    expect(late.length).toBeGreaterThan(10)
    expect(new Set(late.map(({ verdict }) => verdict))).toEqual(new Set(['fails']))
  })

  test('also ends the first login', async () => {
    const { url } = await listen(express().use(() => {}))
    const { code, stderr } = await cli(argsFor(url, '--max-time', '50ms', '--timeout', '1m'), { env })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'express-token-endpoint: The token endpoint did not respond within --max-time. Pass a longer time\n',
    })
  })

  test('sends no request afterwards', async () => {
    const send = sender({ timeout: 5000, sizeLimit: 1000, endsAt: performance.now() })
    expect(await rejectionOf(send(new URL('http://127.0.0.1:9')))).toBeInstanceOf(OutOfTime)
  })
})

describe('a request', () => {
  const send = sender({ timeout: 5000, sizeLimit: 1000, endsAt: Number.POSITIVE_INFINITY })
  const served = async (handler: express.RequestHandler) => new URL((await listen(express().use(handler))).url)

  test.each<[string, express.RequestHandler, string]>([
    ['too long', (_req, res) => void res.send('x'.repeat(1001)), 'the response is longer than 1000 bytes'],
    [
      'of another protocol',
      ({ socket }) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      '101, to switch to a different protocol',
    ],
    [
      'cut short',
      (_req, res) => void res.setHeader('Content-Length', 10).write('x', () => res.destroy()),
      'ECONNRESET',
    ],
  ])('gets no response when it is %s', async (_what, handler, message) => {
    expect(await rejectionOf(send(await served(handler)))).toMatchObject({ message: `no response: ${message}` })
  })

  test('follows no redirect', async () => {
    const url = await served((_req, res) => void res.redirect(307, 'http://192.0.2.1/'))
    expect(await send(url)).toMatchObject({ status: 307 })
  })
})

describe('pages on another site', () => {
  const PAGE = 'https://app.example.com'
  const ofPages = async (cookie: object, ...args: string[]) => {
    const auth = createAuth({
      issuer: ISSUER,
      keys: signingKey('ES256'),
      accounts: memoryAccounts([{ ...ACCOUNTS.alice, passwordHash: PASSWORD }]),
      passwords: soundParts().passwords,
      store: memoryStore(),
      secret: 'secret r'.repeat(4),
      allowedOrigins: [PAGE],
      refresh: { mode: 'cookie', cookie },
    })
    const app = express()
      .use(auth.router)
      .get(STATEMENTS, auth.guard(), (_req, res) => void res.json([]))
    return checkApp(app, ...args)
  }
  const COOKIES = [{ sameSite: 'none' }, { sameSite: 'none', partitioned: false, path: '/' }, { path: '/' }]

  test.each(COOKIES)('hold with --origin: %j', async (cookie) => {
    const { fails, rowOf } = await ofPages(cookie, '--origin', PAGE)
    expect(fails).toEqual([])
    const ids = ['refresh', 'refresh-cookie', 'refresh-origin', 'refresh-sign-out']
    expect(ids.map((id) => rowOf(id)?.verdict)).toEqual(Array(4).fill('holds'))
  })

  test('without --origin, the rows that need it are skipped, and say so', async () => {
    const { fails, rowOf } = await ofPages({ sameSite: 'none' })
    expect(fails).toEqual([])
    expect(rowOf('refresh-cookie')).toMatchObject({ verdict: 'holds' })
    const detail = 'the cookie has SameSite=None, and no --origin was given'
    const ids = ['refresh', 'refresh-foreign', 'refresh-origin', 'refresh-sign-out']
    expect(ids.map((id) => rowOf(id))).toMatchObject(Array(4).fill({ verdict: 'skipped', detail }))
  })

  test('an --origin that is not in allowedOrigins is named before any row', async () => {
    const { url } = await listen(appOf(soundParts()))
    const { code, stdout, stderr } = await cli(argsFor(url, '--origin', 'https://typo.example.com'), { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('403: the app refuses pages from --origin. Pass an origin from its allowedOrigins')
  })

  test.each(['app.example.com', 'https://app.example.com/', 'https://APP.example.com', '*'])(
    '--origin %s is wrong usage',
    async (origin) => {
      const { code, stderr } = await cli(argsFor('https://api.example.com', '--origin', origin), { env })
      expect(code).toBe(2)
      expect(stderr).toContain('--origin must be an origin, like https://app.example.com')
    },
  )

  test('only the app gets --origin, where a browser names it', async () => {
    const seen = (list: string[]): express.RequestHandler => {
      return ({ method, headers: { origin = 'none' } }, _res, next) => {
        list.push(`${method} ${origin}`)
        next()
      }
    }
    const [here, there]: [string[], string[]] = [[], []]
    const other = await listen(appOf({ ...soundParts(issuerOf({ issuer: THERE })), before: [seen(there)] }))
    const { url } = await listen(appOf({ ...soundParts(), before: [seen(here)] }))
    await reportOn(url, ['--other', other.url, '--origin', url])
    expect(here).toContain(`POST ${url}`)
    expect(here).toContain('GET none')
    expect(here).not.toContain('POST none')
    expect(here).not.toContain(`GET ${url}`)
    expect(there.filter((one) => one.includes(url))).toEqual([])
    here.length = 0
    await reportOn(url, ['--origin', PAGE])
    expect(here).toContain(`GET ${PAGE}`)
  })
})

test.each(['body', 'cookie'] as const)(
  'an app holds in which each sign-in ends the one before: %s',
  async (refresh) => {
    const { passwords } = soundParts()
    const accounts = memoryAccounts([{ ...ACCOUNTS.alice, passwordHash: PASSWORD }])
    const auth = createAuth({
      issuer: ISSUER,
      keys: signingKey('ES256'),
      accounts,
      passwords,
      store: memoryStore(),
      secret: 'secret r'.repeat(4),
      maxPerAccount: 1,
      refresh,
    })
    const app = express()
      .use(auth.router)
      .get(STATEMENTS, auth.guard(), (_req, res) => void res.json([]))
    const { code, fails } = await checkApp(app)
    expect(fails).toEqual([])
    expect(code).toBe(0)
  },
)
