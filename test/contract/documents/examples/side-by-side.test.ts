import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import request from 'supertest'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { transpile } from '../../../support/documents/compiler.js'
import { startExamples } from '../../../support/documents/examples.js'
import { ISSUER, issueNow, makeIssuer, SECRET } from '../../../support/fixtures.js'

const { fileOf, folder } = startExamples(import.meta.url)

const OLD_FIRST = '[bcrypt({ truncate: true }), argon2id()]'
const NEW_FIRST = '[argon2id(), bcrypt({ truncate: true })]'

/** The programs of the page: the old code, the new code next to it, and the new code after the last old process. */
const PROGRAMS = { old: 'app', beside: 'appOf()', after: 'appOf()' }
type Program = keyof typeof PROGRAMS

const fileOfProgram = (name: Program) => `${folder}/${name}.mjs`

beforeAll(() => {
  const code = { old: readFileSync(fileOf('old-guard'), 'utf8'), beside: readFileSync(fileOf('side-by-side'), 'utf8') }
  expect(code.beside).toContain(OLD_FIRST)
  const after = code.beside.replace(OLD_FIRST, NEW_FIRST)
  for (const [name, text] of Object.entries({ ...code, after }) as [Program, string][]) {
    const listen = `\nconst listening = ${PROGRAMS[name]}.listen(0, '127.0.0.1', () => console.log(listening.address().port))`
    writeFileSync(fileOfProgram(name), transpile(text) + listen)
  }
})

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
    const env = { PATH: process.env['PATH'], DATABASE_FILE: database, TOKEN_SECRET: SECRET, OLD_SECRET: 'short' }
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

  const beside = await run('beside')
  expect([await beside.userOf(before.alice), await beside.userOf(before.bob)]).toEqual(['alice', 'bob'])
  const since = { alice: await beside.tokenOf('alice', 'secret'), bob: await beside.tokenOf('bob', LONG) }
  for (const process of [old, beside])
    expect([await process.userOf(since.alice), await process.userOf(since.bob)]).toEqual(['alice', 'bob'])

  // A login at a new process leaves a hash that the old process checks.
  expect([await old.logIn('alice', 'secret'), await old.logIn('bob', LONG)]).toEqual([200, 200])
  expect([hashOf('alice'), hashOf('bob')]).toEqual([expect.stringMatching(/^\$2b\$/), expect.stringMatching(/^\$2/)])

  // So does a new password, and one that the old process would cut is refused.
  expect(await beside.change(since.alice, LONG)).toBe(422)
  expect(await beside.change(since.alice, 'new secret')).toBe(204)
  await old.signUp('carol', 'third secret')
  for (const process of [old, beside]) {
    expect(await process.logIn('alice', 'new secret')).toBe(200)
    expect(await process.logIn('alice', 'secret')).toBe(403)
    expect(await process.logIn('carol', 'third secret')).toBe(200)
  }

  // The roll-back.
  await beside.stop()
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
