import { createHash } from 'node:crypto'
import { createAuth, type Limits, memoryAccounts } from 'express-token-endpoint'
import request from 'supertest'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startExamples, useExpress, VERSIONS } from '../../../support/documents/examples.js'
import { fastPasswords, ISSUER, SECRET } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

const GOOD = { email: 'alice@example.com', password: 'secret' }
const WRONG = { ...GOOD, password: 'wrong' }
/** Runs a block on a version of Express. */
async function runOn<T>(version: (typeof VERSIONS)[number], name: string) {
  useExpress(version)
  return run<T>(name, version)
}

beforeAll(() => {
  process.env['SESSION_SECRET'] = 'a secret of sessions'
  process.env['OLD_TOKENS_UNTIL'] = new Date(Date.now() + 86_400_000).toISOString()
})

describe.each(VERSIONS)('the page on apps that exist, on %s', (version) => {
  it('old-refresh-tokens: replaces a token of the table once', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: a driver without types
    const { app, db } = (await runOn(version, 'old-refresh-tokens')) as any
    const hash = createHash('sha256').update('old').digest('hex')
    db.prepare('insert into refresh_tokens values (?, ?, ?, ?)').run(hash, 'acc-1', 1, Date.now() + 60_000)
    const refresh = (refreshToken: string) => request(app).post(`${TOKEN_PATH}/refresh`).send({ refreshToken })
    const { body } = await refresh('old').expect(200)
    expect(db.prepare('select * from refresh_tokens').all()).toEqual([])
    expect((await refresh('old').expect(200)).body.refreshToken).toBe(body.refreshToken)
    await refresh(body.refreshToken).expect(200)
    await refresh('unknown').expect(403)
  })

  it('keep-express-session: a new session id, a second factor, limits and a sign-out', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the names of the context
    const { app, account, sessionStore } = (await runOn(version, 'keep-express-session')) as any
    app.get('/me', (req: { session: { userId?: string } }, res: { json(value: unknown): void }) =>
      res.json(req.session.userId ?? null),
    )
    app.get('/visit', (req: { session: object }, res: { json(value: unknown): void }) => {
      Object.assign(req.session, { visits: 1 })
      res.json(1)
    })
    const cookieOf = ({ headers }: { headers: Record<string, unknown> }) =>
      String([headers['set-cookie'] ?? ''].flat()[0]).split(';')[0] as string
    const planted = cookieOf(await request(app).get('/visit').expect(200))
    const login = (body: object) => request(app).post('/login').set('Cookie', planted).send(body)
    const me = async (cookie: string) => (await request(app).get('/me').set('Cookie', cookie)).body
    await login(WRONG).expect(403, '')
    const mine = cookieOf(await login(GOOD).expect(200, { id: 'acc-1' }))
    expect(mine).not.toBe(planted)
    expect([await me(planted), await me(mine)]).toEqual([null, 'acc-1'])
    account.claims = { secondFactor: true }
    expect((await login(GOOD).expect(403)).body.code).toBe('code_required')
    await login({ ...GOOD, code: '123456' }).expect(200)
    await request(app).post('/logout').set('Cookie', mine).expect(204)
    expect(await me(mine)).toBe(null)
    expect(Object.keys(sessionStore.sessions).length).toBeGreaterThan(0)
    for (let i = 0; i < 10; i++) await login({ ...GOOD, code: '000000' })
    expect((await login(GOOD).expect(429)).body.code).toBe('too_many_attempts')
  })
})

it('table-limits: two processes share each count, also under concurrency', async () => {
  const { mkdtempSync, rmSync } = await import('node:fs')
  const folder = mkdtempSync('/tmp/limits-')
  process.env['LIMITS_DB'] = `${folder}/limits.sqlite`
  onTestFinished(() => {
    delete process.env['LIMITS_DB']
    rmSync(folder, { recursive: true })
  })
  // biome-ignore lint/suspicious/noExplicitAny: a driver without types
  const parts = (await Promise.all(['one', 'two'].map((name) => run('table-limits', name)))) as any[]
  const accounts = memoryAccounts([{ id: 'acc-1', email: GOOD.email, passwordHash: 'plain:secret' }])
  const auths = parts.map(({ limits }: { limits: Limits }) =>
    createAuth({ issuer: ISSUER, secret: SECRET, accounts, passwords: fastPasswords(), limits }),
  )
  const attempts = Array.from({ length: 40 }, (_, i) =>
    auths[i % 2]?.logIn(WRONG, { address: '192.0.2.1' }).catch(({ code }) => code as string),
  )
  const codes = await Promise.all(attempts)
  const checked = codes.filter((code) => code === 'invalid_credentials').length
  expect(checked).toBeGreaterThanOrEqual(10)
  expect(checked).toBeLessThanOrEqual(12)
  const counts = parts[0].db.prepare('select key, points from limits').all() as { key: string; points: number }[]
  expect(counts.every(({ points }) => points === checked)).toBe(true)
  await (parts[0].limits as Limits).reset({ id: 'acc-1', email: GOOD.email })
  expect(await auths[1]?.logIn(GOOD, { address: '192.0.2.1' })).toMatchObject({ account: { id: 'acc-1' } })
})

it('sequelize-hash: stores a hash without validators and hooks', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the names of the context
  const { store, updates } = (await run('sequelize-hash')) as any
  expect(await store.replacePasswordHash('acc-1', 'a', 'b')).toBe(true)
  expect(updates).toEqual([
    [{ password: 'b' }, { where: { id: 'acc-1', password: 'a' }, validate: false, hooks: false }],
  ])
})
