import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import request from 'supertest'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { transpile } from '../../../support/documents/compiler.js'
import { moduleOf } from '../../../support/documents/examples.js'
import { type Block, examples } from '../../../support/documents/pages.js'
import { ISSUER, issueNow, makeIssuer, SECRET } from '../../../support/fixtures.js'

/** The old app, whose routes use the block. */
const OLD_APP = `
import bcryptjs from 'bcryptjs'
import express, { type RequestHandler } from 'express'
import Database from 'libsql'
const file = new Database(process.env['DATABASE_FILE'] ?? ':memory:')
file.pragma('busy_timeout = 5000')
file.exec('create table if not exists users (id text primary key, email text not null unique, password_hash text not null)')
const ROW = 'select id, password_hash from users where email = ?'
const find = (email: unknown) => file.prepare(ROW).get(email) as { id: string; password_hash: string } | undefined
const signUp: RequestHandler = async ({ body: { id, email, password } }, res) => {
  file.prepare('insert into users values (?, ?, ?)').run(id, email, await bcryptjs.hash(password, 4))
  res.sendStatus(201)
}
const logIn: RequestHandler = async ({ body: { email, password } }, res) => {
  const user = find(email)
  if (!user || !(await bcryptjs.compare(password, user.password_hash))) return void res.sendStatus(403)
  res.json({ token: jwt.sign({ id: user.id, type: 'access' }, process.env['OLD_SECRET'] ?? '', { expiresIn: '30d' }) })
}
const me: RequestHandler = ({ headers: { authorization = '' } }, res) => {
  try {
    res.json({ id: accountIdOf(authorization.replace('Bearer ', '')) })
  } catch {
    res.sendStatus(401)
  }
}
const app = express().use(express.json()).post('/users', signUp).post('/login', logIn).get('/me', me)
`

/** The new app, on the same table. */
const NEW_APP = `
import express, { type Request } from 'express'
import { authOf } from 'express-token-endpoint'
import { kyselyAccounts } from 'express-token-endpoint/kysely'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
const file = new Database(process.env['DATABASE_FILE'] ?? ':memory:')
file.pragma('busy_timeout = 5000')
const db = new Kysely<any>({ dialect: new SqliteDialect({ database: file as never }) })
const accounts = kyselyAccounts(db, { table: 'users' })
export function appOf() {
  const app = express().use(auth.router)
  app.get('/me', auth.guard(), (req, res) => void res.json({ id: authOf(req).accountId }))
  app.put('/password', auth.guard(), express.json(), async (req: Request, res) => {
    const password_hash = await passwords.hash(req.body.password)
    await db.updateTable('users').set({ password_hash }).where('id', '=', authOf(req).accountId).execute()
    res.sendStatus(204)
  })
  return app.use(auth.errors)
}
`

const OLD_FIRST = '[bcrypt({ truncate: true }), argon2id()]'
const NEW_FIRST = '[argon2id(), bcrypt({ truncate: true })]'

const UNTIL = new Date(Date.now() + 86_400_000).toISOString()

type Program = 'old' | 'nextTo' | 'after'

const folder = `${import.meta.dirname}/.run/side-by-side`
const fileOfProgram = (name: Program) => `${folder}/${name}.mjs`

/** Writes a program of a block and its app, which listens on a free port. */
function writeProgram(name: Program, block: string, app: string, created: string): void {
  const found = examples().find((one) => one.name === block) as Block
  expect(found.code.includes(OLD_FIRST)).toBe(name !== 'old')
  const code = name === 'after' ? found.code.replace(OLD_FIRST, NEW_FIRST) : found.code
  const listen = `const listening = ${created}.listen(0, '127.0.0.1', () => console.log(listening.address().port))`
  writeFileSync(fileOfProgram(name), transpile(moduleOf({ ...found, code }, app) + listen))
}

beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  writeProgram('old', 'old-guard', OLD_APP, 'app')
  writeProgram('nextTo', 'side-by-side', NEW_APP, 'appOf()')
  writeProgram('after', 'side-by-side', NEW_APP, 'appOf()')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Creates the file of a table, and functions for its processes and its users. */
function start() {
  const directory = mkdtempSync(join(tmpdir(), 'side-by-side-'))
  const database = join(directory, 'users.sqlite')
  const running = new Set<ChildProcess>()
  onTestFinished(() => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(directory, { recursive: true })
  })

  async function run(name: Program) {
    const env = {
      PATH: process.env['PATH'],
      DATABASE_FILE: database,
      TOKEN_SECRET: SECRET,
      OLD_SECRET: 'short',
      OLD_TOKENS_UNTIL: UNTIL,
    }
    const child = spawn(process.execPath, [fileOfProgram(name)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(child)
    const [port] = await once(child.stdout, 'data')
    const url = `http://127.0.0.1:${Number(port)}`
    const send = (email: string, password: string) => request(url).post('/login').send({ email, password })
    return {
      signUp: async (id: string, password: string) =>
        void (await request(url).post('/users').send({ id, email: id, password }).expect(201)),
      logIn: async (id: string, password: string) => (await send(id, password)).status,
      tokenOf: async (id: string, password: string): Promise<string> =>
        (await send(id, password).expect(200)).body.token,
      userOf: async (token: string) => (await request(url).get('/me').auth(token, { type: 'bearer' })).body.id,
      change: async (token: string, password: string) =>
        (await request(url).put('/password').auth(token, { type: 'bearer' }).send({ password })).status,
      async stop() {
        child.kill()
        await once(child, 'exit')
        running.delete(child)
      },
    }
  }

  function hashOf(id: string): string {
    const file = new Database(database)
    const { password_hash } = file.prepare('select password_hash from users where id = ?').get(id) as Record<
      'password_hash',
      string
    >
    file.close()
    return password_hash
  }
  return { run, hashOf }
}

/** 80 bytes: old code that uses bcrypt compares only the first 72. */
const LONG = `${'x'.repeat(72)}the rest`
const CUT = `${'x'.repeat(72)}anything`

it('old and new processes serve the same users, nobody signs in again, and a roll-back locks nobody out', async () => {
  const { run, hashOf } = start()
  const old = await run('old')
  await old.signUp('alice', 'secret')
  await old.signUp('bob', LONG)
  const before = { alice: await old.tokenOf('alice', 'secret'), bob: await old.tokenOf('bob', LONG) }

  const nextTo = await run('nextTo')
  expect([await nextTo.userOf(before.alice), await nextTo.userOf(before.bob)]).toEqual(['alice', 'bob'])
  const since = { alice: await nextTo.tokenOf('alice', 'secret'), bob: await nextTo.tokenOf('bob', LONG) }
  for (const process of [old, nextTo])
    expect([await process.userOf(since.alice), await process.userOf(since.bob)]).toEqual(['alice', 'bob'])

  // A login at a new process leaves a hash that the old process checks.
  expect([await old.logIn('alice', 'secret'), await old.logIn('bob', LONG)]).toEqual([200, 200])
  expect([hashOf('alice'), hashOf('bob')]).toEqual([expect.stringMatching(/^\$2b\$/), expect.stringMatching(/^\$2/)])

  // So does a new password, and one that the old process would cut is refused.
  expect(await nextTo.change(since.alice, LONG)).toBe(422)
  expect(await nextTo.change(since.alice, 'new secret')).toBe(204)
  await old.signUp('carol', 'third secret')
  for (const process of [old, nextTo]) {
    expect(await process.logIn('alice', 'new secret')).toBe(200)
    expect(await process.logIn('alice', 'secret')).toBe(403)
    expect(await process.logIn('carol', 'third secret')).toBe(200)
  }

  // The roll-back.
  await nextTo.stop()
  for (const [id, password] of [
    ['alice', 'new secret'],
    ['bob', LONG],
    ['carol', 'third secret'],
  ] as const) {
    const token = await old.tokenOf(id, password)
    expect(await old.userOf(token)).toBe(id)
  }
  expect([await old.userOf(since.alice), await old.userOf(since.bob)]).toEqual(['alice', 'bob'])
})

it('after the last old process each login upgrades its hash, also that of a password that the old code cut', async () => {
  const { run, hashOf } = start()
  const old = await run('old')
  await old.signUp('alice', 'secret')
  await old.signUp('bob', LONG)
  const before = await old.tokenOf('alice', 'secret')
  const after = await run('after')

  expect(await after.logIn('alice', 'secret')).toBe(200)
  expect(await after.logIn('bob', LONG)).toBe(200)
  expect([hashOf('alice'), hashOf('bob')]).toEqual(Array(2).fill(expect.stringMatching(/^\$argon2id\$/)))
  expect(await after.logIn('bob', LONG)).toBe(200)
  expect(await after.logIn('bob', CUT)).toBe(403)
  expect(await after.userOf(before)).toBe('alice')

  // The reason for the order of the page: an old process cannot check the new hash.
  expect(await old.logIn('alice', 'secret')).toBe(403)
})

it('an old process refuses what neither code has signed, and tickets and tokens of other environments', async () => {
  const { run } = start()
  const old = await run('old')
  await old.signUp('alice', 'secret')
  const [header, payload] = (await old.tokenOf('alice', 'secret')).split('.') as [string, string]
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const of = (audience: string, issuer = ISSUER) =>
    issueNow(makeIssuer({ issuer, audience, keys: { alg: 'HS256', secret: SECRET } }), { accountId: 'alice' }).token
  expect(await old.userOf(of(ISSUER))).toBe('alice')
  const others = [of(`${ISSUER}#ticket`), of(ISSUER, 'https://sandbox.example.com')]
  const isNew = encode({ alg: 'HS256', typ: 'at+jwt' })
  const unsigned = [header, isNew, encode({ alg: 'none' })].map((first) => `${first}.${payload}.`)
  for (const token of [...others, ...unsigned]) expect(await old.userOf(token)).toBeUndefined()
})
