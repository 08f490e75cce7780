import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import express from 'express'
import {
  type Account,
  type AccountLookup,
  type AccountStore,
  AuthError,
  type AuthObserver,
  type Passwords,
  type TokenIssuer,
  type TokenVerifier,
} from 'express-token-endpoint'
import { guardedOperation, type OpenApiDocument, openApiDocument } from 'express-token-endpoint/openapi'
import { accountStoreContract } from 'express-token-endpoint/testing'
import type { Redis } from 'ioredis'
import { register } from 'prom-client'
import request from 'supertest'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { typeErrors } from './support/compiler.js'
import { ISSUER, makeIssuer, SECRET } from './support/fixtures.js'
import { listen, TOKEN_PATH } from './support/http.js'
import { NO_REDIS, startRedis } from './support/redis.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}test/.readme`

/** What a block takes for granted, as its reader's own code would have it. */
const CONTEXT: Record<string, string> = {
  'quick-start': `import { createPasswords } from 'express-token-endpoint'
    const hash = await createPasswords().hash('secret')
    const db = { findAccount: async (email: string) => email === 'alice@example.com' ? { id: 'acc-1', passwordHash: hash } : null }`,
  mount: '',
  guard: '',
  jwks: '',
  'remote-keys': `const log = { error: (_: unknown) => {} }`,
  'second-look': `import { createTokenIssuer, memoryAccounts } from 'express-token-endpoint'
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
  hasher: `const directory = { bind: async (name: string, password: string) => name === 'uid=alice,ou=people' && password === 'pw' }`,
  events: '',
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

const readme = readFileSync(`${root}README.md`, 'utf8')
const blocks = new Map(
  [...readme.matchAll(/^<!-- example: (.+) -->\n```ts\n([\s\S]*?)^```$/gm)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
)

const old = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const oldKey = old.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

const fileOf = (name: string) => `${folder}/${name}.ts`

/** Runs a block, and gives its top-level names. */
async function run<T>(name: string): Promise<T> {
  return (await import(/* @vite-ignore */ fileOf(name))) as T
}

/** In a process of its own, which does not take itself for a part of this test run. */
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

  it('jwks, remote-keys: a service verifies what another one issues, by an address', async () => {
    const { app, tokens } = await run<{ app: express.Express; tokens: TokenIssuer }>('jwks')
    process.env['JWKS_URL'] = `${(await listen(app)).url}/.well-known/jwks.json`
    const { tokens: verifier } = await run<{ tokens: TokenVerifier }>('remote-keys')
    expect(await verifier.verify(tokens.issue({ accountId: 'acc-1' }).token)).toMatchObject({ accountId: 'acc-1' })
  })

  it('second-look: refuses a token after sign-out', async () => {
    const { app, tokens } = await run<{ app: express.Express; tokens: TokenIssuer }>('second-look')
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
    const { tokenRouter } = await import('express-token-endpoint')
    const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts }))
    await request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password: 'secret' }).expect(200)
    await request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password: 'Secret' }).expect(403)
  })

  it('store-contract: passes in vitest', { timeout: 60_000 }, async () => {
    const alias = ['testing', 'index'].map((entry) => ({
      find: `express-token-endpoint${entry === 'index' ? '' : `/${entry}`}`,
      replacement: `${root}src/${entry}.ts`,
    }))
    const config = { resolve: { alias }, test: { include: ['store-contract.ts'] } }
    writeFileSync(`${folder}/vitest.config.mjs`, `export default ${JSON.stringify(config)}`)
    const vitest = `${root}node_modules/vitest/vitest.mjs`
    const { stdout } = await runNode(vitest, 'run', '--root', folder, '--reporter', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ numTotalTests: 9, numPassedTests: 9 })
  })

  it("store-contract-node: passes in Node's test runner", { timeout: 60_000 }, async () => {
    const code = readFileSync(fileOf('store-contract-node'), 'utf8')
    const { outputText } = ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.ESNext } })
    writeFileSync(`${folder}/store-contract-node.mjs`, outputText)
    const { stdout } = await runNode('--test-reporter=tap', `${folder}/store-contract-node.mjs`)
    expect(stdout).toMatch(/^# tests 9\n# suites 0\n# pass 9$/m)
  })

  it('hasher: asks the directory', async () => {
    const { passwords } = await run<{ passwords: Passwords }>('hasher')
    expect(await passwords.verify('pw', 'ldap:uid=alice,ou=people')).toBe(true)
    expect(await passwords.verify('px', 'ldap:uid=alice,ou=people')).toBe(false)
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

describe.skipIf(NO_REDIS)('the README, run with Redis', () => {
  it('redis-throttle: counts failed logins there', async () => {
    process.env['REDIS_URL'] = (await startRedis()).url
    const { app, redis } = await run<{ app: express.Express; redis: Redis }>('redis-throttle')
    onTestFinished(() => redis.disconnect())
    // Silent for too long, as it is while it connects on a busy machine, it is gone on without.
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
