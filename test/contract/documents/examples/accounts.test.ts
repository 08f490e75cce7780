import express from 'express'
import {
  type Account,
  type AccountLookup,
  createPasswords,
  createSessions,
  type Hasher,
  memoryAccounts,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { accountStoreContract, sessionStoreContract } from 'express-token-endpoint/testing'
import { Client, InvalidCredentialsError } from 'ldapts'
import request from 'supertest'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { newSession } from '../../../../src/sessions/session.js'
import { get, signIn, startExamples } from '../../../support/documents/examples.js'
import { issueNow, makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

describe('the pages on accounts', () => {
  it('lookup: finds an account whatever the case of the address', async () => {
    const { accounts } = await run<{ accounts: AccountLookup }>('lookup')
    expect(await accounts('Alice@Example.com')).toMatchObject({ id: 'acc-1' })
    expect(await accounts('nobody@example.com')).toBeNull()
  })

  it('sql-store: registers, finds, swaps, serves the router, and a change of password ends the tokens from before', async () => {
    interface Block {
      register(id: string, email: string, password: string): Promise<boolean>
    }
    const { accounts, register, changePassword } = await run<Block>('sql-store')
    expect(await register('acc-1', 'Alice@example.com', 'secret')).toBe(true)
    expect(await register('acc-2', 'alice@Example.com', 'other')).toBe(false)
    const { passwordHash } = (await accounts.findById('acc-1')) as Account
    const alice = { id: 'acc-1', passwordHash, disabled: false, tokensValidAfter: null }
    expect(await accounts.findByEmail('ALICE@example.com')).toEqual(alice)
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()

    const tokens = makeIssuer()
    const app = express().use(tokenRouter({ tokens, accounts }))
    app.get('/me', requireBearer({ tokens, accounts }), (req, res) => void res.json(req.user))
    const logIn = (password: string) => request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password })
    await logIn('secret').expect(200)
    await logIn('Secret').expect(403)
    const { token } = issueNow(tokens, { accountId: 'acc-1', issuedAt: new Date(Date.now() - 60_000) })
    await get(app, '/me', token).expect(200)
    await changePassword('acc-1', 'new secret')
    await logIn('secret').expect(403)
    await logIn('new secret').expect(200)
    await get(app, '/me', token).expect(401)
  })

  it('prisma-store: is a store', async () => {
    const { accounts } = await run('prisma-store')
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash: 'hash-1', scopes: ['reports:read'] }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()
    expect(await accounts.findById('acc-1')).not.toHaveProperty('email')
  })
})

describe('the page on sessions', () => {
  it('sessions: lists the session of a sign-in with its label, and refuses the token after sign-out', async () => {
    const { app } = await run('sessions')
    const { body } = await signIn(app).set('X-Device-Name', 'Laptop').expect(200)
    const token = body.authenticationToken
    const list = await get(app, '/sessions', token).expect(200)
    expect(list.body.sessions).toMatchObject([{ label: 'Laptop', current: true }])
    await request(app).post('/sessions/sign-out').auth(token, { type: 'bearer' }).expect(204)
    await get(app, '/statements', token).expect(401)
  })

  it('session-password: ends the other sessions of the account, and only for its own password', async () => {
    const { app, sessions, tokens, changed } = await run('session-password')
    const start = async (accountId: string) => {
      const issued = await tokens.issue({ accountId })
      await sessions.start({ ...issued, accountId })
      return issued
    }
    const [mine, , foreign] = [await start('acc-1'), await start('acc-1'), await start('acc-2')]
    const send = (token: string, oldPassword: string) =>
      request(app)
        .post('/password')
        .auth(token, { type: 'bearer' })
        .send({ email: 'alice@example.com', oldPassword, newPassword: 'new secret' })
    await send('x.y.z', 'secret').expect(401)
    await send(mine.token, 'wrong').expect(403)
    await send(foreign.token, 'secret').expect(403)
    expect([changed, await sessions.list('acc-1')]).toMatchObject([[], [{}, {}]])
    await send(mine.token, 'secret').expect(204)
    expect([changed, await sessions.list('acc-1')]).toMatchObject([['acc-1', 'new secret'], [{ id: mine.id }]])
    expect(await sessions.list('acc-2')).toHaveLength(1)
  })

  it('session-start: issues a token whose session has started', async () => {
    interface Block {
      issueWithSession(accountId: string, req: object): Promise<string>
    }
    const { issueWithSession, sessions, tokens } = await run<Block>('session-start')
    const token = await issueWithSession('acc-1', { ip: '192.0.2.1', get: () => 'curl/8' })
    expect(await sessions.isEnded(await tokens.verify(token))).toBe(false)
    expect(await sessions.list('acc-1')).toMatchObject([{ address: '192.0.2.1', userAgent: 'curl/8' }])
  })

  it('session-elsewhere: refuses a token there after its session has ended here, and responds 503 without the store', async () => {
    const { app, store, tokens } = await run('session-elsewhere')
    const here = createSessions(store)
    const { token, id, expiresAt } = await tokens.issue({ accountId: 'acc-1' })
    await get(app, '/reports', token).expect(401)
    await here.start({ id, accountId: 'acc-1', expiresAt })
    const find = vi.spyOn(store, 'find').mockRejectedValueOnce(new Error('down'))
    await get(app, '/reports', token).expect(503)
    find.mockRestore()
    await get(app, '/reports', token).expect(200)
    await here.endAll('acc-1')
    await get(app, '/reports', token).expect(401)
  })

  it.each(['sessions-sqlite', 'sessions-mongodb'])('%s: is a store', async (name) => {
    const { store } = await run(name)
    for (const check of sessionStoreContract({ store })) await check.run()
  })

  it('sessions-sqlite: drops expired sessions with the next sign-in', async () => {
    const { store } = await run('sessions-sqlite', 'again')
    const session = (id: string, createdAt: Date) =>
      newSession({ id, accountId: 'acc-1', expiresAt: new Date(+createdAt + 1000) }, +createdAt)
    await store.add(session('old', new Date(0)))
    await store.add(session('new', new Date(1000)))
    expect(await store.list('acc-1')).toMatchObject([{ id: 'new' }])
  })
})

describe('the recipe for LDAP', () => {
  const NAME = 'uid=alice,ou=people,dc=example,dc=com'
  const hash = `ldap:${NAME}`
  /** The directory accepts each bind without a password, like many directories (RFC 4513 section 5.1.2). */
  const bind = vi.spyOn(Client.prototype, 'bind').mockImplementation(async (name, password) => {
    if (password !== '' && (name !== NAME || password !== 'pässword')) throw new InvalidCredentialsError()
  })
  afterAll(() => bind.mockRestore())

  it('ldap: takes the password that the directory takes, and never the empty one', async () => {
    const { passwords } = await run('ldap')
    expect(await passwords.verify('pässword', hash)).toBe(true)
    expect(await passwords.verify('Pässword', hash)).toBe(false)
    expect(await passwords.verify('', hash)).toBe(false)
    expect(bind.mock.calls).toEqual([
      [NAME, 'pässword'],
      [NAME, 'Pässword'],
    ])
  })

  it('ldap: is a 503 while the directory is down, never a wrong password, and keeps the reference', async () => {
    const { passwords } = await run('ldap')
    const accounts = memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash: hash }])
    const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts, passwords, onEvent() {} }))
    const login = () => request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password: 'pässword' })
    await login().expect(200)
    expect(await accounts.findById('acc-1')).toMatchObject({ passwordHash: hash })
    bind.mockRejectedValueOnce(new Error('ECONNREFUSED'))
    await login().expect(503)
  })

  it('ldap: binds for an unknown address too, where all accounts are in the directory', async () => {
    const { ldap } = await run<{ ldap: Hasher }>('ldap')
    const passwords = createPasswords({ hashers: [{ ...ldap, hash: () => 'ldap:uid=nobody' }] })
    expect(await passwords.verify('pässword', null)).toBe(false)
    expect(bind).toHaveBeenLastCalledWith('uid=nobody', 'pässword')
  })
})
