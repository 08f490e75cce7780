import express from 'express'
import {
  type Account,
  type AccountLookup,
  type AccountStore,
  createPasswords,
  type Hasher,
  memoryAccounts,
  type Passwords,
  tokenRouter,
} from 'express-token-endpoint'
import { accountStoreContract } from 'express-token-endpoint/testing'
import { Client, InvalidCredentialsError } from 'ldapts'
import request from 'supertest'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

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
