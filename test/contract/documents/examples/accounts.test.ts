import express from 'express'
import {
  type Account,
  type AccountLookup,
  type AccountStore,
  createPasswords,
  type Hasher,
  memoryAccounts,
  type Passwords,
  requireBearer,
  tokenRouter,
} from 'express-token-endpoint'
import { accountStoreContract } from 'express-token-endpoint/testing'
import type { Knex } from 'knex'
import { Client, InvalidCredentialsError } from 'ldapts'
import request from 'supertest'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
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
    type Register = (id: string, email: string, password: string) => Promise<void>
    const { accounts, register } = await run<{ accounts: Required<AccountStore>; register: Register }>('sql-store')
    await register('acc-1', 'Alice@example.com', 'secret')
    const { passwordHash } = (await accounts.findById('acc-1')) as Account
    expect(await accounts.findByEmail('ALICE@example.com')).toEqual({ id: 'acc-1', passwordHash, disabled: false })
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

describe('the recipe for LDAP', () => {
  const NAME = 'uid=alice,ou=people,dc=example,dc=com'
  const hash = `ldap:${NAME}`
  /** The directory accepts each bind without a password, like many directories (RFC 4513 section 5.1.2). */
  const bind = vi.spyOn(Client.prototype, 'bind').mockImplementation(async (name, password) => {
    if (password !== '' && (name !== NAME || password !== 'pässword')) throw new InvalidCredentialsError()
  })
  afterAll(() => bind.mockRestore())

  it('ldap: takes the password that the directory takes, and never the empty one', async () => {
    const { passwords } = await run<{ passwords: Passwords }>('ldap')
    expect(await passwords.verify('pässword', hash)).toBe(true)
    expect(await passwords.verify('Pässword', hash)).toBe(false)
    expect(await passwords.verify('', hash)).toBe(false)
    expect(bind.mock.calls).toEqual([
      [NAME, 'pässword'],
      [NAME, 'Pässword'],
    ])
  })

  it('ldap: is a 503 while the directory is down, never a wrong password, and keeps the reference', async () => {
    const { passwords } = await run<{ passwords: Passwords }>('ldap')
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
