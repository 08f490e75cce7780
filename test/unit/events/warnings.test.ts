import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import express from 'express'
import { createTokenIssuer } from 'express-token-endpoint'
import express4 from 'express4'
import { Passport } from 'passport'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { root } from '../../support/documents/repository.js'
import { issueNow } from '../../support/fixtures.js'
import { type AnyExpress, asJson, GOOD, packageOn, send } from '../../support/host.js'
import { listen, TOKEN_PATH } from '../../support/http.js'

const warned = vi.fn()
beforeEach(() => {
  warned.mockClear()
  vi.spyOn(process, 'emitWarning').mockImplementation(warned)
})
afterEach(() => vi.restoreAllMocks())

const messages = () => warned.mock.calls.map(([message, type]) => [type, message])

/** The ways to log in, each mounted in an app. */
const LOGINS = {
  tokenRouter: (app, kit) => app.use(kit.tokenRouter(kit.options)),
  'tokenRouter in a sub-app': (app, kit) => app.use(kit.express().use(kit.tokenRouter(kit.options))),
  'auth.logIn': (app, kit) => {
    const logIn = kit.logInWith()
    app.post(TOKEN_PATH, kit.express.json(), async (req, res) => void res.json(await logIn(req.body, req)))
  },
  LoginStrategy: (app, kit) => {
    const passport = new Passport()
    passport.use(new kit.LoginStrategy({ accounts: kit.options.accounts, passwords: kit.options.passwords }))
    app.post(TOKEN_PATH, passport.authenticate('login', { session: false }), (_req, res) => void res.json({}))
  },
} satisfies Record<string, (app: ReturnType<AnyExpress>, kit: Kit) => unknown>

type Kit = Awaited<ReturnType<typeof kitOn>>

/** Loads a new copy of the package, because a process warns once. */
async function kitOn(installed: AnyExpress) {
  const { makeIssuer, makeStore, fastPasswords, tokenRouter, createAuth, ISSUER, SECRET } = await packageOn(installed)
  const { LoginStrategy } = await import('express-token-endpoint/passport')
  const options = { tokens: makeIssuer(), accounts: makeStore(), passwords: fastPasswords() }
  const { accounts, passwords } = options
  const logInWith = () =>
    createAuth({ issuer: ISSUER, keys: { alg: 'HS256', secret: SECRET }, accounts, passwords }).logIn
  return { express: installed, options, tokenRouter, logInWith, LoginStrategy }
}

async function start(installed: AnyExpress, trustProxy?: unknown, login: keyof typeof LOGINS = 'tokenRouter') {
  const app = installed()
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy)
  LOGINS[login](app, await kitOn(installed))
  return (await listen(app)).port
}

const forwarded = { ...asJson(GOOD), headers: { ...asJson(GOOD).headers, 'X-Forwarded-For': '203.0.113.99' } }

const HOSTS: [string, AnyExpress][] = [
  ['Express 4', express4 as unknown as AnyExpress],
  ['Express 5', express],
]
const CASES = HOSTS.flatMap(([name, installed]) =>
  (Object.keys(LOGINS) as (keyof typeof LOGINS)[]).map((login) => [login, name, installed] as const),
)

it.each(CASES)('X-Forwarded-For without "trust proxy" is a warning, once: %s, %s', async (login, _, installed) => {
  const port = await start(installed, undefined, login)
  await send(port, asJson(GOOD))
  expect(messages()).toEqual([])
  for (let i = 0; i < 3; i++) expect((await send(port, forwarded)).status).toBe(200)
  expect(messages()).toEqual([
    ['ExpressTokenEndpointWarning', expect.stringMatching(/"trust proxy" is not set.*See .*proxies-and-cors\.md$/)],
  ])
  expect(String(warned.mock.calls)).not.toContain('203.0.113.99')
})

it.each(CASES)('"trust proxy" true is a warning, once: %s, %s', async (login, _, installed) => {
  const port = await start(installed, true, login)
  expect(messages()).toEqual([])
  for (const sent of [asJson(GOOD), forwarded, forwarded]) expect((await send(port, sent)).status).toBe(200)
  expect(messages()).toEqual([
    ['ExpressTokenEndpointWarning', expect.stringMatching(/"trust proxy" is true.*See .*proxies-and-cors\.md$/)],
  ])
})

it.each([1, 'loopback', '203.0.113.1'])('X-Forwarded-For with "trust proxy" %j is no warning', async (trustProxy) => {
  const port = await start(express, trustProxy)
  expect((await send(port, forwarded)).status).toBe(200)
  expect(messages()).toEqual([])
})

it('a request without an Express app is no warning', async () => {
  const logIn = (await kitOn(express)).logInWith()
  const server = createServer((req, res) => void logIn(GOOD, req).then(() => res.end('{}')))
  const { port } = await listen(server)
  expect((await send(port, forwarded)).status).toBe(200)
  expect(messages()).toEqual([])
})

it('a long token is a warning, once, without the token', () => {
  const keys = { alg: 'HS256', secret: 'secret s'.repeat(4) } as const
  const tokens = createTokenIssuer({ issuer: 'https://api.example.com', keys })
  const issue = (length: number) => issueNow(tokens, { accountId: 'acc-1', claims: { text: 'x'.repeat(length) } }).token
  expect(issue(2500).length).toBeLessThan(4096)
  expect(messages()).toEqual([])
  expect(issue(4000).length).toBeGreaterThan(4096)
  const { length } = issue(4000)
  expect(messages()).toEqual([
    ['ExpressTokenEndpointWarning', expect.stringMatching(/longer than 4,096 characters.*See /)],
  ])
  expect(length).toBeGreaterThan(4096)
  expect(String(warned.mock.calls)).not.toContain('xxx')
})

it('each warning names a page that exists', async () => {
  const { PAGE } = await import('../../../src/options/misuse.js')
  for (const page of Object.values(PAGE))
    expect(existsSync(root + page.replace('express-token-endpoint/', ''))).toBe(true)
})
