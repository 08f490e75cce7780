import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import express from 'express'
import {
  type Account,
  type AccountLookup,
  type AccountStore,
  AuthError,
  type AuthEvent,
  type AuthObserver,
  createPasswords,
  type Hasher,
  memoryAccounts,
  type Passwords,
  requireBearer,
  type TokenIssuer,
  type TokenVerifier,
  tokenRouter,
} from 'express-token-endpoint'
import { guardedOperation, type OpenApiDocument, openApiDocument } from 'express-token-endpoint/openapi'
import { accountStoreContract, createTestIssuer } from 'express-token-endpoint/testing'
import type { Redis } from 'ioredis'
import type { Knex } from 'knex'
import { Client } from 'ldapts'
import { register } from 'prom-client'
import request from 'supertest'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { typeErrors } from '../../support/documents/compiler.js'
import { readme, root } from '../../support/documents/readme.js'
import { ISSUER, makeIssuer, SECRET } from '../../support/fixtures.js'
import { listen, TOKEN_PATH } from '../../support/http.js'
import { startLdap } from '../../support/services/ldap.js'
import { NO_POSTGRES, startPostgres } from '../../support/services/postgres.js'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'

const folder = `${root}test/contract/documents/.readme`

/** An issuer, and a store with an account, for a block that has neither; under a name that no block imports. */
const HOST = `import * as library from 'express-token-endpoint'
    export const tokens = library.createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const account = {
      id: 'acc-1',
      email: 'alice@example.com',
      passwordHash: await library.createPasswords().hash('secret'),
      scopes: ['statements:read'],
      claims: { admin: true },
    }
    const accounts = library.memoryAccounts([account])`

/** The names that a block uses and that the reader's own code would define. */
const CONTEXT: Record<string, string> = {
  'quick-start': `import { createPasswords } from 'express-token-endpoint'
    const hash = await createPasswords().hash('secret')
    const db = { findAccount: async (email: string) => email === 'alice@example.com' ? { id: 'acc-1', passwordHash: hash } : null }`,
  mount: '',
  guard: '',
  'guard-mount': '',
  'account-user': '',
  jwks: '',
  'remote-keys': `const log = { error: (_: unknown) => {} }`,
  'account-check': `import { createTokenIssuer, memoryAccounts } from 'express-token-endpoint'
    export const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const store = memoryAccounts([{ id: 'acc-1', email: 'a@b.c', passwordHash: null }])`,
  lookup: `interface User { id: string; passwordHash: string; disabled: boolean; scopes: string[] }
    const user: User = { id: 'acc-1', passwordHash: 'x', disabled: false, scopes: ['a'] }
    const db = { users: { findOne: async ({ email }: { email: string }) => email === 'alice@example.com' ? user : null } }`,
  'sql-store': '',
  'store-contract': `import { memoryAccounts } from 'express-token-endpoint'
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash: 'hash-1' }])`,
  'store-contract-node': `import { memoryAccounts } from 'express-token-endpoint'
    const alice = { id: 'acc-1', email: 'alice@example.com', passwordHash: 'hash-1', scopes: ['reports:read'] }
    const openStore = async () => memoryAccounts([alice])`,
  'testing-vitest': `import express from 'express'
    import { authOf, requireBearer, type TokenVerifier } from 'express-token-endpoint'
    const createApp = ({ tokens }: { tokens: TokenVerifier }) =>
      express().get('/reports', requireBearer({ tokens, scope: 'reports:read' }), (req, res) => {
        res.json({ reportsOf: authOf(req).accountId })
      })`,
  'testing-node': `import express from 'express'
    import { authOf, requireBearer, type TokenRouterOptions, tokenRouter } from 'express-token-endpoint'
    function createApp({ revoked, ...login }: TokenRouterOptions & { revoked: Set<string> }) {
      const guard = requireBearer({ tokens: login.tokens, isRevoked: ({ id }) => revoked.has(id) })
      const app = express().use(tokenRouter(login))
      app.post('/sign-out', guard, (req, res) => void res.json(revoked.add(authOf(req).id).size))
      return app.get('/statements', guard, (_req, res) => void res.json([]))
    }`,
  events: '',
  'first-account': '',
  'knex-store': '',
  'prisma-store': `const record = {
      id: 'acc-1',
      email: 'alice@example.com',
      passwordHash: 'hash-1' as string | null,
      disabled: false,
      scopes: ['reports:read'],
      tokensValidAfter: null as Date | null,
    }
    type Record = typeof record
    type Where = { email: string } | { id: string; passwordHash?: string }
    const fits = (where: Where) => Object.entries(where).every(([name, value]) => record[name as keyof Record] === value)
    const prisma = {
      account: {
        async findUnique<K extends keyof Record>({ where, select }: { where: Where; select: { [k in K]: true } }) {
          const chosen = Object.entries(record).filter(([name]) => name in select)
          return fits(where) ? (Object.fromEntries(chosen) as Pick<Record, K>) : null
        },
        async updateMany({ where, data }: { where: Where; data: Partial<Record> }) {
          if (!fits(where)) return { count: 0 }
          Object.assign(record, data)
          return { count: 1 }
        },
      },
    }`,
  ldap: '',
  scopes: HOST,
  environments: `${HOST}
    const [live, sandbox] = [accounts, accounts]`,
  cors: HOST,
  proxy: `${HOST}
    export const lines: string[] = []
    const log = { info: (line: string) => lines.push(line) }`,
  'from-express-jwt': `${HOST}
    export const revoked = new Set<string>()`,
  'from-passport-jwt': `${HOST}
    const users = accounts`,
  'from-express-oauth2-jwt-bearer': '',
  openapi: '',
  rotation: '',
  'redis-throttle': `import { createTokenIssuer, memoryAccounts } from 'express-token-endpoint'
    const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'a@b.c', passwordHash: null }])
    const log = { error: (_: unknown) => {} }`,
  'redis-revocation': `import { createTokenIssuer } from 'express-token-endpoint'
    export const tokens = createTokenIssuer({ issuer: '${ISSUER}', keys: { alg: 'HS256', secret: '${SECRET}' } })
    const log = { error: (_: unknown) => {} }`,
}

const blocks = new Map(
  [...readme.matchAll(/^<!-- example: (.+) -->\n```ts\n([\s\S]*?)^```$/gm)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
)

const old = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const oldKey = old.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

const fileOf = (name: string) => `${folder}/${name}.ts`

/**
 * Runs a block and returns its top-level names.
 * @param again a name for this run, to run a block a second time
 */
async function run<T>(name: string, again?: string): Promise<T> {
  const query = again === undefined ? '' : `?${encodeURIComponent(again)}`
  return (await import(/* @vite-ignore */ fileOf(name) + query)) as T
}

/** Runs Node without the environment of this test run. */
const runNode = (...args: string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: root, env: { PATH: process.env['PATH'] } })

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, code] of blocks) {
    const declared = [...code.matchAll(/^const (\w+)/gm)].map(([, variable]) => variable)
    const runnable = code.replace('app.listen(3000)\n', '')
    writeFileSync(fileOf(name), `${CONTEXT[name]}\n${runnable}\nexport { ${declared.join(', ')} }\n`)
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  Object.assign(process.env, {
    TOKEN_SECRET: SECRET,
    TOKEN_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    TOKEN_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'pem' }),
    OLD_TOKEN_KEY: old.publicKey.export({ type: 'spki', format: 'pem' }),
    ACCOUNTS_DB: ':memory:',
    SANDBOX_SECRET: [...SECRET].reverse().join(''),
  })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the README', () => {
  it('shows code within fifteen lines of its top', () => {
    expect(readme.split('\n').slice(0, 15)).toContain('```ts')
  })

  it('names each of its TypeScript blocks, so that each is run here', () => {
    expect([...readme.matchAll(/^```ts$/gm)]).toHaveLength(blocks.size)
    expect([...blocks.keys()].sort()).toEqual(Object.keys(CONTEXT).sort())
  })

  it('has blocks that a strict compiler takes', { timeout: 60_000 }, () => {
    const loosened = { noUnusedLocals: false, noPropertyAccessFromIndexSignature: false }
    expect(typeErrors([...blocks.keys()].map(fileOf), loosened)).toBe('')
  })

  it('names every option of every function, and none that does not exist', async () => {
    const {
      createPasswords,
      createThrottle,
      createTokenIssuer,
      createTokenVerifier,
      jwksRouter,
      remoteKeys,
      requireBearer,
      tokenRouter,
    } = await import('express-token-endpoint')
    const functions = {
      createTokenIssuer,
      createTokenVerifier,
      jwksRouter,
      remoteKeys: (options: object) => remoteKeys(ISSUER, options),
      requireBearer,
      tokenRouter,
      createPasswords,
      createThrottle,
      openApiDocument,
      guardedOperation: (options: object) => guardedOperation({ responses: {} }, options),
    }
    for (const [name, make] of Object.entries(functions)) {
      const section = readme.split(`### \`${name}(`)[1]?.split('\n### ')[0] ?? ''
      const known = knownOptions(make as (options: object) => unknown)
      for (const option of known)
        expect(name === 'createTokenVerifier' ? readme : section, `${name}: ${option}`).toContain(`${option}`)
      for (const [, options = ''] of tableOf(section).matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)) {
        for (const [, option] of options.matchAll(/`(\w+)`/g)) expect(known, name).toContain(option)
      }
    }
  })
})

describe('the README on testing', () => {
  const section = readme.split('\n## Testing your app\n')[1]?.split('\n## ')[0] ?? ''
  const table = section.split('| of `createTestIssuer()` |')[1]?.split('\n\n')[0] ?? ''

  it('tells of all that a test issuer gives, and of every token that is refused', () => {
    const { refused, ...kit } = createTestIssuer()
    const rows = [...table.matchAll(/^\| `(\w+)/gm)].map(([, name]) => name)
    expect(rows.sort()).toEqual(['refused', ...Object.keys(kit)].sort())
    const row = table.split('\n').find((line) => line.startsWith('| `refused`')) ?? ''
    const told = [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    expect(told).toEqual(['refused', 'bearer', ...Object.keys(refused)])
  })
})

/** A section's table of options. */
const tableOf = (section: string) => section.split('| option |')[1]?.split('\n\n')[0] ?? ''

/** The list of options that a function names when it is given one that it does not know. */
function knownOptions(make: (options: object) => unknown): string[] {
  try {
    make({ '?': 1 })
  } catch (error) {
    return /Known options: (.*)$/.exec((error as Error).message)?.[1]?.split(', ') ?? []
  }
  return []
}

describe('the README, run', () => {
  it('quick-start: gives a token and lets it through', async () => {
    const { app } = await run<{ app: express.Express }>('quick-start')
    const login = await request(app)
      .post(TOKEN_PATH)
      .type('form')
      .send({ email: 'alice@example.com', password: 'secret' })
    expect(login.status).toBe(200)
    const { body } = await request(app)
      .get('/statements')
      .auth(login.body.authenticationToken, { type: 'bearer' })
      .expect(200)
    expect(body).toEqual({ account: 'acc-1' })
    await request(app).get('/statements').expect(401)
  })

  it('mount: has the endpoint at its own path and below a prefix', async () => {
    const { app } = await run<{ app: express.Express }>('mount')
    for (const path of [TOKEN_PATH, '/north/token']) {
      await request(app).post(path).send({ email: 'alice@example.com', password: 'x' }).expect(403)
    }
  })

  it('guard: takes a token of the issuer that has the private key', async () => {
    const { app } = await run<{ app: express.Express }>('guard')
    const issuer = makeIssuer({ keys: { alg: 'ES256', privateKey: process.env['TOKEN_KEY'] } })
    const { token } = issuer.issue({ accountId: 'acc-1', scopes: ['reports:read'] })
    const { body } = await request(app).get('/reports/daily').auth(token, { type: 'bearer' }).expect(200)
    expect(body).toMatchObject({ accountId: 'acc-1', scopes: ['reports:read'] })
    const poor = issuer.issue({ accountId: 'acc-1' }).token
    await request(app).get('/reports/daily').auth(poor, { type: 'bearer' }).expect(403)
    await request(app).get('/prices').expect(200, { discount: 0 })
    await request(app).get('/prices').auth(poor, { type: 'bearer' }).expect(200, { discount: 10 })
  })

  it('guard-mount: lets nothing by, however its path is written', async () => {
    const { url } = await listen((await run<{ app: express.Express }>('guard-mount')).app)
    for (const path of ['/reports/1', '//reports/1', '/%72eports/1', '/x']) {
      expect((await fetch(url + path)).status).toBe(401)
    }
  })

  it('jwks, remote-keys: a service verifies what another one issues, by an address', async () => {
    const { app, tokens } = await run<{ app: express.Express; tokens: TokenIssuer }>('jwks')
    process.env['JWKS_URL'] = `${(await listen(app)).url}/.well-known/jwks.json`
    const { tokens: verifier } = await run<{ tokens: TokenVerifier }>('remote-keys')
    expect(await verifier.verify(tokens.issue({ accountId: 'acc-1' }).token)).toMatchObject({ accountId: 'acc-1' })
  })

  it('account-check: refuses a token after sign-out', async () => {
    const { app, tokens } = await run<{ app: express.Express; tokens: TokenIssuer }>('account-check')
    const { token } = tokens.issue({ accountId: 'acc-1' })
    await request(app).post('/sign-out').auth(token, { type: 'bearer' }).expect(204)
    await request(app).post('/sign-out').auth(token, { type: 'bearer' }).expect(401)
  })

  it('lookup: finds an account whatever the case of the address', async () => {
    const { accounts } = await run<{ accounts: AccountLookup }>('lookup')
    expect(await accounts('Alice@Example.com')).toMatchObject({ id: 'acc-1' })
    expect(await accounts('nobody@example.com')).toBeNull()
  })

  it('sql-store: registers, finds, swaps, and serves the router', async () => {
    interface Block {
      accounts: Required<AccountStore>
      register(id: string, email: string, password: string): Promise<void>
    }
    const { accounts, register } = await run<Block>('sql-store')
    await register('acc-1', 'Alice@example.com', 'secret')
    const { passwordHash } = (await accounts.findById('acc-1')) as Account
    expect(await accounts.findByEmail('ALICE@example.com')).toEqual({ id: 'acc-1', passwordHash, disabled: false })
    expect(await accounts.findByEmail('nobody@example.com')).toBeUndefined()
    expect(await accounts.replacePasswordHash('acc-1', 'another', 'new')).toBe(false)
    expect(await accounts.replacePasswordHash('acc-1', passwordHash as string, passwordHash as string)).toBe(true)
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()
    const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts }))
    await request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password: 'secret' }).expect(200)
    await request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password: 'Secret' }).expect(403)
  })

  it.each([
    ['store-contract', 11],
    ['testing-vitest', 10],
  ])('%s: passes in vitest', { timeout: 60_000 }, async (name, tests) => {
    const alias = ['testing', 'index'].map((entry) => ({
      find: `express-token-endpoint${entry === 'index' ? '' : `/${entry}`}`,
      replacement: `${root}src/${entry}.ts`,
    }))
    const config = { resolve: { alias }, test: { include: [`${name}.ts`] } }
    const file = `${folder}/${name}.config.mjs`
    writeFileSync(file, `export default ${JSON.stringify(config)}`)
    const vitest = `${root}node_modules/vitest/vitest.mjs`
    const { stdout } = await runNode(vitest, 'run', '--root', folder, '--config', file, '--reporter', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ numTotalTests: tests, numPassedTests: tests })
  })

  it.each([
    ['store-contract-node', 11],
    ['testing-node', 2],
  ])("%s: passes in Node's test runner", { timeout: 60_000 }, async (name, tests) => {
    const code = readFileSync(fileOf(name), 'utf8')
    const { outputText } = ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.ESNext } })
    writeFileSync(`${folder}/${name}.mjs`, outputText)
    const { stdout } = await runNode('--test-reporter=tap', `${folder}/${name}.mjs`)
    expect(stdout).toMatch(new RegExp(`^# tests ${tests}\\n# suites 0\\n# pass ${tests}$`, 'm'))
  })

  it('events: logs and counts', async () => {
    const { onEvent, log } = await run<{ onEvent: AuthObserver; log: { error: unknown; info: unknown } }>('events')
    const lines: unknown[][] = []
    Object.assign(log, {
      error: (...line: unknown[]) => lines.push(line),
      info: (...line: unknown[]) => lines.push(line),
    })
    const about = { time: new Date(), address: '192.0.2.1' }
    const error = new Error('down')
    onEvent({ type: 'dependency.failed', dependency: 'accounts', refused: true, error, ...about })
    onEvent({ type: 'token.refused', code: 'invalid_credentials', reason: 'wrong_password', ...about })
    expect(lines).toEqual([
      [expect.objectContaining({ dependency: 'accounts', err: error }), 'dependency.failed'],
      [expect.objectContaining({ reason: 'wrong_password' }), 'token.refused'],
    ])
    const metrics = await register.metrics()
    expect(metrics).toContain(
      'auth_events_total{type="token.refused",code="invalid_credentials",reason="wrong_password"} 1',
    )
    expect(metrics).toContain('auth_logins_waiting 0')
  })

  it('openapi: serves a valid document, with the operation added to it', async () => {
    const { app } = await run<{ app: express.Express }>('openapi')
    const document = (await request(app).get('/openapi.json').expect(200)).body as OpenApiDocument
    expect(await new Validator().validate(document)).toEqual({ valid: true })
    expect(Object.keys(document.paths)).toEqual([TOKEN_PATH, '/statements'])
    expect(document.paths['/statements']?.get?.security).toEqual([{ bearer: ['statements:read'] }])
  })

  it('rotation: signs with the new key, and takes the tokens of the old one', async () => {
    const { tokens } = await run<{ tokens: TokenIssuer }>('rotation')
    const old = makeIssuer({ keys: { alg: 'ES256', privateKey: oldKey } })
    expect(await tokens.verify(old.issue({ accountId: 'acc-1' }).token)).toMatchObject({ accountId: 'acc-1' })
    await expect(old.verify(tokens.issue({ accountId: 'acc-1' }).token)).rejects.toThrow(AuthError)
  })
})

type Host = { app: express.Express; tokens: TokenIssuer }

const signIn = (app: express.Express, path = TOKEN_PATH) =>
  request(app).post(path).send({ email: 'alice@example.com', password: 'secret' })

async function tokenFrom(app: express.Express, path?: string): Promise<string> {
  const { body } = await signIn(app, path).expect(200)
  return body.authenticationToken
}

const get = (app: express.Express, path: string, token: string) =>
  request(app).get(path).auth(token, { type: 'bearer' })

describe('the recipes, run', () => {
  it('first-account: is found, by its password', async () => {
    const { accounts } = await run<{ accounts: AccountStore }>('first-account')
    const account = (await accounts.findByEmail('alice@example.com')) as Account
    expect(await createPasswords().verify('correct horse battery staple', account.passwordHash)).toBe(true)
  })

  it('prisma-store: is a store', async () => {
    const { accounts } = await run<{ accounts: Required<AccountStore> }>('prisma-store')
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash: 'hash-1', scopes: ['reports:read'] }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()
    expect(await accounts.findById('acc-1')).not.toHaveProperty('email')
  })

  it('scopes: are those of the account, and all that a guard names are needed', async () => {
    const { app, tokens } = await run<Host>('scopes')
    const token = await tokenFrom(app)
    await get(app, '/statements', token).expect(200, { statementsOf: 'acc-1' })
    await request(app).post('/statements').auth(token, { type: 'bearer' }).expect(403)
    await get(app, '/totals', token).expect(403)
    const admin = tokens.issue({ accountId: 'acc-1', scopes: ['admin'] }).token
    await get(app, '/totals', admin).expect(200)
  })

  it('environments: each takes its own tokens, and refuses the other one’s', async () => {
    const { app } = await run<Host>('environments')
    for (const [own, other] of [['live', 'sandbox'] as const, ['sandbox', 'live'] as const]) {
      const token = await tokenFrom(app, `/${own}${TOKEN_PATH}`)
      await get(app, `/${own}/statements`, token).expect(200)
      const refused = await get(app, `/${other}/statements`, token).expect(401)
      expect(refused.headers['www-authenticate']).toContain('error="invalid_token"')
    }
  })

  it('cors: a preflight passes without a token, and a script sees why it was refused', async () => {
    const { app } = await run<Host>('cors')
    const origin = { Origin: 'https://app.example.com' }
    for (const path of ['/statements', TOKEN_PATH]) {
      const asked = {
        ...origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization',
      }
      const preflight = await request(app).options(path).set(asked).expect(204)
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': origin.Origin,
        'access-control-allow-headers': 'Authorization,Content-Type',
      })
    }
    const refused = await request(app).get('/statements').set(origin).expect(401)
    expect(refused.headers).toMatchObject({
      'access-control-allow-origin': origin.Origin,
      'access-control-expose-headers': 'WWW-Authenticate,Retry-After',
    })
    const token = await tokenFrom(app)
    await get(app, '/statements', token).set(origin).expect(200)
    const foreign = await request(app)
      .options('/statements')
      .set({ ...origin, Origin: 'https://evil.example' })
    expect(foreign.headers).not.toHaveProperty('access-control-allow-origin')
  })

  it('proxy: counts by the address that the one proxy saw, whatever the client wrote before it', async () => {
    const { app, lines } = await run<Host & { lines: string[] }>('proxy')
    const guess = (forwarded: string) =>
      request(app).post(TOKEN_PATH).set('X-Forwarded-For', forwarded).send({ email: 'a@b.c', password: 'x' })
    for (let i = 0; i < 10; i++) await guess(`198.51.100.${i}, 203.0.113.1`).expect(403)
    await guess('203.0.113.1').expect(429)
    await guess('203.0.113.2').expect(403)
    expect(new Set(lines.slice(0, 10))).toEqual(new Set(['token.refused from 203.0.113.1']))
  })

  it('from-express-jwt: signs in, guards what comes behind, refuses what is revoked', async () => {
    const { app, revoked, tokens } = await run<Host & { revoked: Set<string> }>('from-express-jwt')
    const token = await tokenFrom(app, '/login')
    await get(app, '/me', token).expect(200, { account: 'acc-1', admin: true })
    await request(app).get('/me').expect(401)
    revoked.add((await tokens.verify(token)).id)
    await get(app, '/me', token).expect(401)
  })

  it('from-passport-jwt: req.user is the account, without its hash', async () => {
    const { app, tokens } = await run<Host>('from-passport-jwt')
    const { body } = await get(app, '/me', await tokenFrom(app)).expect(200)
    expect(body).toMatchObject({ id: 'acc-1', email: 'alice@example.com' })
    expect(body).not.toHaveProperty('passwordHash')
    await get(app, '/me', tokens.issue({ accountId: 'gone' }).token).expect(401)
  })

  it('from-express-oauth2-jwt-bearer: follows the key set, and asks for the scope', async () => {
    const { app: keys, tokens } = await run<Host>('jwks')
    process.env['JWKS_URL'] = `${(await listen(keys)).url}/.well-known/jwks.json`
    const { app } = await run<Host>('from-express-oauth2-jwt-bearer')
    const token = (scopes: string[]) => tokens.issue({ accountId: 'acc-1', scopes }).token
    await get(app, '/reports', token(['reports:read'])).expect(200, { account: 'acc-1' })
    await get(app, '/reports', token([])).expect(403)
  })
})

describe('the recipe for LDAP, run with a directory', () => {
  const NAME = 'uid=alice,ou=people,dc=example,dc=com'
  const LOST = 'uid=lost,ou=people,dc=example,dc=com'

  async function directory() {
    const server = await startLdap({ [NAME]: 'pässword', [LOST]: undefined })
    process.env['LDAP_URL'] = server.url
    // The block reads the address of its directory when it is loaded, so each run needs its own name.
    return { server, ...(await run<{ ldap: Hasher; passwords: Passwords }>('ldap', server.url)) }
  }

  it('takes the password that the directory takes, and no other', async () => {
    const { passwords, server } = await directory()
    expect(await passwords.verify('pässword', `ldap:${NAME}`)).toBe(true)
    expect(await passwords.verify('Pässword', `ldap:${NAME}`)).toBe(false)
    expect(await passwords.verify('pässword', 'ldap:uid=bob,ou=people,dc=example,dc=com')).toBe(false)
    expect(server.binds).toEqual([NAME, NAME, 'uid=bob,ou=people,dc=example,dc=com'])
  })

  it('refuses the empty password, with which the directory lets anybody bind', async () => {
    const { passwords, server } = await directory()
    const client = new Client({ url: server.url })
    await client.bind(NAME, '')
    await client.unbind()
    expect(await passwords.verify('', `ldap:${NAME}`)).toBe(false)
    expect(server.binds).toEqual([NAME])
  })

  it('is a 503 while the directory is away or silent, never a wrong password', async () => {
    const { passwords, server } = await directory()
    const accounts = [NAME, LOST].map((name) => ({ id: name, email: name, passwordHash: `ldap:${name}` }))
    const events: AuthEvent[] = []
    const onEvent = (event: AuthEvent) => events.push(event)
    const store = memoryAccounts(accounts)
    const parts = { tokens: makeIssuer(), accounts: store, passwords, onEvent }
    const app = express().use(tokenRouter(parts), tokenRouter({ ...parts, path: '/hasty', timeout: '50ms' }))
    await request(app).post(TOKEN_PATH).send({ email: NAME, password: 'pässword' }).expect(200)
    expect(await store.findById(NAME)).toMatchObject({ passwordHash: `ldap:${NAME}` })
    await request(app).post('/hasty').send({ email: LOST, password: 'pässword' }).expect(503)
    server.stop()
    await request(app).post(TOKEN_PATH).send({ email: NAME, password: 'pässword' }).expect(503)
    expect(events.slice(1)).toEqual([
      expect.objectContaining({ type: 'dependency.failed', dependency: 'passwords' }),
      expect.objectContaining({ type: 'dependency.failed', dependency: 'passwords' }),
    ])
  })

  it('asks the directory for an unknown address too, where all accounts are there', async () => {
    const { ldap, server } = await directory()
    const nobody = 'uid=nobody,ou=people,dc=example,dc=com'
    const passwords = createPasswords({ hashers: [{ ...ldap, hash: () => `ldap:${nobody}` }] })
    expect(await passwords.verify('pässword', null)).toBe(false)
    expect(server.binds).toEqual([nobody])
  })
})

describe.skipIf(NO_POSTGRES)('the README, run with PostgreSQL', () => {
  it('knex-store: is a store, and a change of password ends the tokens from before', async () => {
    process.env['DATABASE_URL'] = await (await startPostgres()).createDatabase()
    interface Block {
      db: Knex
      accounts: Required<AccountStore>
      passwords: Passwords
      changePassword(id: string, password: string): Promise<void>
    }
    const { db, accounts, passwords, changePassword } = await run<Block>('knex-store')
    onTestFinished(() => db.destroy())
    await db.raw(`create table accounts (
      id text primary key, email text not null unique, password_hash text, disabled boolean not null default false,
      scopes text[] not null default '{}', tokens_valid_after timestamptz
    )`)
    const password_hash = await passwords.hash('secret')
    await db('accounts').insert({ id: 'acc-1', email: 'alice@example.com', password_hash, scopes: ['reports:read'] })
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash: password_hash, scopes: ['reports:read'] }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()

    const tokens = makeIssuer()
    const app = express().use(tokenRouter({ tokens, accounts, passwords }))
    app.get('/me', requireBearer({ tokens, accounts }), (req, res) => void res.json(req.user))
    const { token } = tokens.issue({ accountId: 'acc-1', issuedAt: new Date(Date.now() - 60_000) })
    await signIn(app).expect(200)
    await get(app, '/me', token).expect(200)
    await changePassword('acc-1', 'new secret')
    await signIn(app).expect(403)
    await request(app).post(TOKEN_PATH).send({ email: 'Alice@example.com', password: 'new secret' }).expect(200)
    await get(app, '/me', token).expect(401)
  })
})

describe.skipIf(NO_REDIS)('the README, run with Redis', () => {
  it('redis-throttle: counts failed logins there', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    const { app, redis } = await run<{ app: express.Express; redis: Redis }>('redis-throttle')
    onTestFinished(() => redis.disconnect())
    // On a busy machine Redis can take too long to connect. The limits then work without it.
    await redis.ping()
    const login = () => request(app).post(TOKEN_PATH).send({ email: 'a@b.c', password: 'x' })
    for (let i = 0; i < 10; i++) await login().expect(403)
    await login().expect(429)
    expect(await redis.keys('login-*')).toHaveLength(3)
  })

  it('redis-revocation: refuses a token after sign-out, and forgets it when it has expired', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    interface Block {
      app: express.Express
      redis: Redis
      tokens: TokenIssuer
    }
    const { app, redis, tokens } = await run<Block>('redis-revocation')
    onTestFinished(() => redis.disconnect())
    const { token, id, expiresAt } = tokens.issue({ accountId: 'acc-1' })
    const signOut = () => request(app).post('/sign-out').auth(token, { type: 'bearer' })
    await signOut().expect(204)
    await signOut().expect(401)
    expect(await redis.pexpiretime(`revoked:${id}`)).toBe(expiresAt.getTime() + 60_000)
  })
})
