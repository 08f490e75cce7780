import express from 'express'
import { requireBearer } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, accountPackage, STRONG } from '../../support/account-app.js'
import { all, deferred, statuses, until } from '../../support/concurrency.js'
import { send } from '../../support/host.js'
import { listen } from '../../support/http.js'

const { start, frozenClock, memoryStore, authOf, ACCOUNTS, PASSWORD } = await accountPackage(express)
const { alice, bob } = ACCOUNTS
const KEYS = `${ACCOUNT}/api-keys`

async function startWith(change: Parameters<typeof start>[0] = {}) {
  const clock = frozenClock()
  const { factors, ...others } = memoryStore()
  const store = { ...others, factors: { ...factors } }
  const app = await start({ clock, store, apiKeys: true, secondFactor: true, ...change })
  const { auth } = app
  const api = express()
  api.get('/open', auth.guard({ apiKeys: true }), (req, res) => void res.json(authOf(req)))
  api.get('/optional', auth.guard({ apiKeys: true, optional: true }), (req, res) => void res.json(req.auth ?? null))
  api.get('/plain-optional', auth.guard({ optional: true }), (req, res) => void res.json(req.auth ?? null))
  api.get('/second', auth.guard({ apiKeys: true, secondFactor: true }), (_req, res) => void res.json({}))
  api.get('/recent', auth.guard({ apiKeys: true, signedInWithin: '366d' }), (_req, res) => void res.json({}))
  api.get('/elsewhere', requireBearer({ tokens: auth.tokens }), (_req, res) => void res.json({}))
  api.get('/ticket', auth.guard({ apiKeys: true }), async (req, res, next) => {
    await auth.ticket(req, { path: '/api/by-ticket' }).then((ticket) => res.json(ticket), next)
  })
  api.get('/update', auth.guard({ apiKeys: true }), async (req, res, next) => {
    await app.auth.sessions?.update(req, { admin: true }).then(() => res.json({}), next)
  })
  api.use(auth.errors)
  const { port } = await listen(express().use('/api', api))
  const at = (path: string, key: string) =>
    send(port, { method: 'GET', path: `/api${path}`, headers: { Authorization: `Bearer ${key}` } })
  const { token } = await app.signIn(alice.email, PASSWORD)
  const ask = (body: object, own = token) => app.call(KEYS, body, { token: own })
  async function make(body: object = { name: 'ci' }, own = token) {
    const answer = await ask(body, own)
    expect(answer.status).toBe(201)
    return JSON.parse(answer.body).key as string
  }
  const list = async (own = token) =>
    JSON.parse((await app.call(KEYS, undefined, { method: 'GET', token: own })).body).keys
  return { ...app, clock, store, factors, token, at, ask, make, list }
}

describe('a thief who makes an API key', () => {
  it.each(['before', 'after'] as const)(
    'while the owner resets the password, %s the store has it: no key works',
    async (place) => {
      const app = await startWith()
      const [reached, go] = [deferred<void>(), deferred<void>()]
      app.store.factors.add = async (...given) => {
        if (place === 'before') {
          reached.resolve()
          await go.promise
        }
        const isAdded = await app.factors.add(...given)
        if (place === 'after') {
          reached.resolve()
          await go.promise
        }
        return isAdded
      }
      const making = app.ask({ name: 'mine', lifetime: '366d' })
      await reached.promise
      await app.call(`${ACCOUNT}/password/forgotten`, { email: alice.email })
      const reset = { code: await app.codeOf('password-reset'), password: STRONG }
      expect((await app.call(`${ACCOUNT}/password/reset`, reset)).status).toBe(204)
      go.resolve()
      expect((await making).status).toBe(401)
      expect(await app.factors.list(alice.id)).toEqual([])
    },
  )

  it('while the owner deletes the account: no key stays', async () => {
    const app = await startWith()
    const [reached, go] = [deferred<void>(), deferred<void>()]
    app.store.factors.add = async (...given) => {
      reached.resolve()
      await go.promise
      return app.factors.add(...given)
    }
    const making = app.ask({ name: 'mine' })
    await reached.promise
    expect((await app.call(ACCOUNT, undefined, { method: 'DELETE', token: app.token })).status).toBe(204)
    go.resolve()
    expect((await making).status).toBe(401)
    expect(await app.factors.list(alice.id)).toEqual([])
  })

  it('thirty times at once: the account has twenty', async () => {
    const app = await startWith()
    expect(statuses(await all(30, (i) => app.ask({ name: `${i}` })))).toEqual({ 201: 20, 409: 10 })
    expect(await app.list()).toHaveLength(20)
  })

  it('with one scope two hundred times stores it once', async () => {
    const app = await startWith()
    await app.make({ name: 'n'.repeat(64), scopes: Array.from({ length: 200 }, () => 'reports:read') })
    expect((await app.list())[0].scopes).toEqual(['reports:read'])
  })

  it.each<[string, unknown]>([
    ['0', 0],
    ['less than a second', 0.5],
    ['a negative number', -1],
    ['a number without end', 1e308],
    ['a text without end', `${'9'.repeat(400)}d`],
    ['two texts', ['30d', '1d']],
    ['null', null],
    ['an object', { valueOf: 1 }],
    ['more than 366 days', '366d1s'],
    ['an empty text', ''],
  ])('with a lifetime of %s gets none', async (_what, lifetime) => {
    const app = await startWith()
    expect((await app.ask({ name: 'ci', lifetime })).status).toBe(400)
    expect(await app.list()).toEqual([])
  })

  it('with a scope that beforeSignIn has taken from its token gets none', async () => {
    const app = await startWith({ beforeSignIn: () => ({ scopes: [] }) })
    const refused = await app.ask({ name: 'ci', scopes: ['reports:read'] })
    expect(JSON.parse(refused.body)).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('as an administrator who acts as the account gets none', async () => {
    const app = await startWith()
    const { token: ofBob } = await app.signIn(bob.email, PASSWORD)
    const acting = JSON.parse((await app.call(`/act-as/${alice.id}`, {}, { token: ofBob })).body).authenticationToken
    expect((await app.ask({ name: 'ci' }, acting)).status).toBe(403)
    expect(await app.list()).toEqual([])
  })
})

describe('somebody who has an API key', () => {
  it('gets no ticket, no session data, and into no route that does not name keys', async () => {
    const app = await startWith()
    const key = await app.make({ name: 'ci', scopes: ['reports:read'] })
    expect((await app.at('/open', key)).status).toBe(200)
    expect((await app.at('/optional', key)).status).toBe(200)
    for (const path of ['/plain-optional', '/second', '/recent', '/elsewhere', '/ticket', '/update'])
      expect([path, (await app.at(path, key)).status]).toEqual([path, 401])
    expect((await app.call(`/act-as/${bob.id}`, {}, { token: key })).status).toBe(401)
    expect((await app.call('/ticket?path=/in&method=GET', {}, { token: key })).status).toBe(401)
  })

  it.each<[string, (key: string) => string]>([
    ['in upper case', (key) => key.toUpperCase()],
    ['with another last letter', (key) => key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')],
    ['of its id', () => ''],
    ['with an end of line', (key) => `${key}%0a`],
    ['twice', (key) => key + key],
  ])('and writes it %s: it is refused, also where the token is optional', async (_what, change) => {
    const app = await startWith()
    const key = await app.make()
    const [{ id }] = await app.list()
    const sent = change(key) || id
    for (const path of ['/open', '/optional']) expect([400, 401]).toContain((await app.at(path, sent)).status)
  })

  it('does not show it to a verifier of the host that takes every token', async () => {
    const seen: string[] = []
    const verifier = {
      issuer: 'urn:others',
      accepts: () => true,
      verify(text: string) {
        seen.push(text)
        throw new Error('unknown')
      },
    }
    const app = await startWith({ alsoAccept: [verifier] })
    const key = await app.make()
    expect((await app.at('/open', key)).status).toBe(200)
    expect(seen).toEqual([])
  })

  it('whose use is noted while the owner removes it: it does not come back', async () => {
    const app = await startWith()
    const key = await app.make()
    const [{ id }] = await app.list()
    const [reached, go, ended] = [deferred<void>(), deferred<void>(), deferred<unknown>()]
    app.store.factors.replace = async (...given) => {
      reached.resolve()
      await go.promise
      const isReplaced = await app.factors.replace(...given)
      ended.resolve(isReplaced)
      return isReplaced
    }
    expect((await app.at('/open', key)).status).toBe(200)
    await reached.promise
    const removed = await app.call(`${KEYS}/${id}`, undefined, { method: 'DELETE', token: app.token })
    expect(removed.status).toBe(204)
    go.resolve()
    expect(await ended.promise).toBe(false)
    expect([await app.list(), (await app.at('/open', key)).status]).toEqual([[], 401])
  })

  it('at a store whose notes of uses hang gets in, with one call for each key', async () => {
    const app = await startWith()
    const key = await app.make()
    const turn = deferred<boolean>()
    let calls = 0
    app.store.factors.replace = () => {
      calls++
      return turn.promise
    }
    expect(statuses(await all(50, () => app.at('/open', key)))).toEqual({ 200: 50 })
    expect(calls).toBe(1)
    turn.resolve(false)
    await until(async () => {
      await app.at('/open', key)
      expect(calls).toBe(2)
    })
  })
})
