// Tests factors/api-keys.ts
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { EXPRESS, TOKEN_PATH } from '../../support/http.js'

const KEYS = `${ACCOUNT}/api-keys`
const DAY = 86_400_000

describe.each(EXPRESS)('API keys, on %s', async (_name, express) => {
  const { start, ACCOUNTS, PASSWORD, frozenClock, authOf } = await accountPackage(express)
  const { alice, bob } = ACCOUNTS

  async function startWith(change: Parameters<typeof start>[0] = {}) {
    const clock = frozenClock()
    const app = await start({ clock, apiKeys: true, ...change })
    const { auth } = app
    const api = express()
    api.get('/open', auth.guard({ apiKeys: true }), (req, res) => void res.json(authOf(req)))
    api.get('/scoped', auth.guard({ apiKeys: true, scope: 'reports:read' }), (_req, res) => void res.json({}))
    api.get('/recent', auth.guard({ apiKeys: true, signedInWithin: '1h' }), (_req, res) => void res.json({}))
    app.app.use('/api', api)
    const server = await import('../../support/http.js').then(({ listen }) => listen(express().use('/api', api)))
    const { send } = await import('../../support/host.js')
    const at = (path: string, key: string) =>
      send(server.port, { method: 'GET', path: `/api${path}`, headers: { Authorization: `Bearer ${key}` } })

    async function make(token: string, body: object = { name: 'ci' }) {
      const answer = await app.call(KEYS, body, { token })
      expect(answer.status).toBe(201)
      expect(Object.keys(JSON.parse(answer.body))).toEqual(['key'])
      return JSON.parse(answer.body).key as string
    }
    const list = async (token: string) => {
      const { status, body } = await app.call(KEYS, undefined, { method: 'GET', token })
      expect(status).toBe(200)
      return JSON.parse(body).keys
    }
    return { ...app, clock, at, make, list }
  }

  it('enter only routes whose guard admits them', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token, { name: 'ci', scopes: ['reports:read'] })
    expect(key).toMatch(/^etk_[a-z2-7]{39}$/)
    const open = await app.at('/open', key)
    expect(open.status).toBe(200)
    expect(JSON.parse(open.body)).toMatchObject({ accountId: alice.id, scopes: ['reports:read'] })
    expect((await app.at('/scoped', key)).status).toBe(200)
    expect((await app.at('/recent', key)).status).toBe(401)
    expect(await app.isIn(key)).toBe(401)
    const routes: [string, string][] = [
      ['GET', '/sessions'],
      ['POST', '/sessions/sign-out'],
      ['POST', `${ACCOUNT}/password`],
      ['POST', `${ACCOUNT}/address`],
      ['DELETE', ACCOUNT],
      ['POST', KEYS],
      ['GET', KEYS],
      ['POST', `${TOKEN_PATH}/confirm`],
    ]
    for (const [method, path] of routes)
      expect((await app.call(path, method === 'POST' ? { name: 'x' } : undefined, { method, token: key })).status).toBe(
        401,
      )
  })

  it('are listed without their text, and removed at once', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token, { name: 'ci', lifetime: '7d' })
    const now = app.clock()
    const [one] = await app.list(token)
    const times = { createdAt: new Date(now).toISOString(), expiresAt: new Date(now + 7 * DAY).toISOString() }
    expect(one).toEqual({ id: expect.any(String), name: 'ci', scopes: [], ...times, lastUsedAt: null })
    await app.at('/open', key)
    expect((await app.list(token))[0].lastUsedAt).toBe(new Date(now).toISOString())
    const remove = () => app.call(`${KEYS}/${one.id}`, undefined, { method: 'DELETE', token })
    expect((await remove()).status).toBe(204)
    expect(JSON.parse((await remove()).body)).toMatchObject({ status: 404, code: 'unknown_api_key' })
    expect((await app.at('/open', key)).status).toBe(401)
    const events = app.events.filter(({ type }) => type.startsWith('api-key'))
    expect(events).toMatchObject([
      { type: 'api-key.created', keyId: one.id },
      { type: 'api-key.removed', keyId: one.id },
    ])
    expect(JSON.stringify(app.events)).not.toContain(key)
  })

  it('of another account cannot be removed', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token)
    const [{ id }] = await app.list(token)
    const other = await app.signIn(bob.email, PASSWORD)
    expect(await app.list(other.token)).toEqual([])
    expect((await app.call(`${KEYS}/${id}`, undefined, { method: 'DELETE', token: other.token })).status).toBe(404)
    expect((await app.at('/open', key)).status).toBe(200)
  })

  it('have scopes that the token and the account have, also later', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const refused = await app.call(KEYS, { name: 'ci', scopes: ['reports:read', 'admin'] }, { token })
    expect(JSON.parse(refused.body)).toMatchObject({ status: 403, code: 'forbidden' })
    const key = await app.make(token, { name: 'form', scopes: 'reports:read' })
    const account = await app.accounts.findById(alice.id)
    Object.assign(account as object, { scopes: [] })
    expect((await app.at('/scoped', key)).status).toBe(403)
    expect(JSON.parse((await app.at('/open', key)).body).scopes).toEqual([])
    Object.assign(account as object, { scopes: ['reports:read'] })
  })

  it.each([
    ['no name', {}],
    ['a name of 65 characters', { name: 'n'.repeat(65) }],
    ['a name that is no text', { name: 7 }],
    ['scopes that are none', { name: 'ci', scopes: [1] }],
    ['a lifetime of 367 days', { name: 'ci', lifetime: '367d' }],
    ['a lifetime that is none', { name: 'ci', lifetime: 'soon' }],
  ])('are not made with %s', async (_what, body) => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    expect((await app.call(KEYS, body, { token })).status).toBe(400)
    expect(await app.list(token)).toEqual([])
  })

  it('expire', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token, { name: 'ci', lifetime: '10s' })
    app.clock.advance(9999)
    expect((await app.at('/open', key)).status).toBe(200)
    app.clock.advance(1)
    expect((await app.at('/open', key)).status).toBe(401)
    expect(await app.list(token)).toEqual([])
  })

  it('are at most 20 of an account', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    for (let i = 0; i < 20; i++) await app.make(token)
    const refused = await app.call(KEYS, { name: 'one more' }, { token })
    expect(JSON.parse(refused.body)).toMatchObject({ status: 409, code: 'too_many_api_keys' })
  })

  it('stop with their account, its tokensValidAfter, a reset and the deletion', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token)
    const account = (await app.accounts.findById(alice.id)) as object
    Object.assign(account, { disabled: true })
    expect((await app.at('/open', key)).status).toBe(401)
    Object.assign(account, { disabled: false, tokensValidAfter: new Date(app.clock() + 1) })
    expect((await app.at('/open', key)).status).toBe(401)
    Object.assign(account, { tokensValidAfter: undefined })
    expect((await app.at('/open', key)).status).toBe(200)
    await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
    await app.call(`${ACCOUNT}/password/reset`, { code: await app.codeOf('password-reset'), password: STRONG })
    expect((await app.at('/open', key)).status).toBe(401)
    const { token: again } = await app.signIn(alice.email, STRONG)
    const next = await app.make(again)
    expect((await app.call(ACCOUNT, undefined, { method: 'DELETE', token: again })).status).toBe(204)
    expect(await app.store.factors.list(alice.id)).toEqual([])
    expect((await app.at('/open', next)).status).toBe(401)
  })

  it('stop with a change of the password and of the address', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token)
    const sent = { password: PASSWORD, newPassword: STRONG }
    expect((await app.call(`${ACCOUNT}/password`, sent, { token })).status).toBe(204)
    expect((await app.at('/open', key)).status).toBe(401)
    const next = await app.make(token)
    await app.call(`${ACCOUNT}/address`, { email: 'alice@example.org' }, { token })
    const code = await app.codeOf('new-address')
    expect((await app.call(`${ACCOUNT}/address/confirm`, { code }, { token })).status).toBe(204)
    expect((await app.at('/open', next)).status).toBe(401)
  })

  it('of another environment with the same store are unknown', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token)
    const other = await startWith({ store: app.store, issuer: 'https://sandbox.example.com' })
    expect((await other.at('/open', key)).status).toBe(401)
  })

  it('need a recent sign-in, except for the list', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    app.clock.advance(660_000)
    expect((await app.call(KEYS, { name: 'ci' }, { token })).status).toBe(401)
    expect((await app.call(`${KEYS}/x`, undefined, { method: 'DELETE', token })).status).toBe(401)
    expect(await app.list(token)).toEqual([])
  })

  it('are a 503 while their store is down', async () => {
    const app = await startWith()
    const { token } = await app.signIn(alice.email, PASSWORD)
    const key = await app.make(token)
    app.store.factors.find = () => Promise.reject(new Error('down'))
    expect((await app.at('/open', key)).status).toBe(503)
    expect(app.of('dependency.failed')).toMatchObject([{ dependency: 'factors' }])
    expect((await app.at('/open', `${key.slice(0, -1)}1`)).status).toBe(401)
  })

  it('need the option of the app', async () => {
    const { auth } = await start()
    expect(() => auth.guard({ apiKeys: true })).toThrow('needs the option "apiKeys"')
    await expect(start({ apiKeys: true, store: undefined, refresh: undefined } as object)).rejects.toThrow('store')
  })
})
