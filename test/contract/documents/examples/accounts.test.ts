import express from 'express'
import {
  type Account,
  type AccountLookup,
  type AccountStore,
  type AuthEvent,
  createPasswords,
  type Hasher,
  memoryAccounts,
  type Passwords,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { accountStoreContract } from 'express-token-endpoint/testing'
import type { Knex } from 'knex'
import { Client } from 'ldapts'
import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { startLdap } from '../../../support/services/ldap.js'
import { NO_POSTGRES, startPostgres } from '../../../support/services/postgres.js'
import { ACCOUNTS } from './contexts/accounts.js'
import { get, signIn } from './sign-in.js'

const { run } = startExamples(import.meta.url, ACCOUNTS)

describe('the pages on accounts', () => {
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

  it('prisma-store: is a store', async () => {
    const { accounts } = await run<{ accounts: Required<AccountStore> }>('prisma-store')
    const existing = { email: 'alice@example.com', id: 'acc-1', passwordHash: 'hash-1', scopes: ['reports:read'] }
    for (const check of accountStoreContract({ store: accounts, existing })) await check.run()
    expect(await accounts.findById('acc-1')).not.toHaveProperty('email')
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

describe.skipIf(NO_POSTGRES)('the pages on accounts, with PostgreSQL', () => {
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
