import crypto from 'node:crypto'
import express from 'express'
import { createPasswords, type Hasher, memoryAccounts, tokenRouter } from 'express-token-endpoint'
import { Client, InvalidCredentialsError } from 'ldapts'
import request from 'supertest'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { get, signIn, startExamples } from '../../../support/documents/examples.js'
import { makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

describe('the page on accounts', () => {
  it('lookup: finds an account whatever the case of the address', async () => {
    const { accounts } = await run<{ accounts: (email: string) => unknown }>('lookup')
    expect(await accounts('Alice@Example.com')).toMatchObject({ id: 'acc-1' })
    expect(await accounts('nobody@example.com')).toBeNull()
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

describe('the page on passwords from elsewhere', () => {
  it('old-hashes: a login replaces the hash with an argon2id hash', async () => {
    const { passwords } = await run('old-hashes')
    const email = 'alice@example.com'
    const accounts = memoryAccounts([{ id: 'acc-1', email, passwordHash: djangoHash('secret') }])
    const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts, passwords }))
    await request(app).post(TOKEN_PATH).send({ email, password: 'Secret' }).expect(403)
    await signIn(app).expect(200)
    const account = await accounts.findById('acc-1')
    expect(account?.passwordHash).toMatch(/^\$argon2id\$/)
  })

  it('Django’s argon2 and bcrypt hashes are accepted without their prefixes', async () => {
    const { passwords } = await run('old-hashes')
    const argon2 = 'argon2$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'
    const bcrypt = 'bcrypt$$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'
    expect(await passwords.verify('password', argon2.slice('argon2'.length))).toBe(true)
    expect(await passwords.verify('U*U', bcrypt.slice('bcrypt$'.length))).toBe(true)
  })
})

describe('other-hashes', () => {
  // Made by Werkzeug 3.1 with low costs.
  it.each([
    'pbkdf2:sha256:1000$doU6w1Xoc2fH5u99$8197f95b9ed7047877d3344beee463713c8cbc9b816062b4171b556ec3c3a272',
    'scrypt:16384:8:1$tducebI0KXxJIWer$d43f8147b5fdacdf8b3dcec26b163ad7fb30fa2bfe7e90efccb177af7ca579a4a6956fc050ce86443a679540c82dbe8c4523b1bd426c9ac8a22296da13bc5af7',
  ])('accepts the password of %s, and no other', async (hash) => {
    const { passwords } = await run('other-hashes')
    expect(await passwords.verify('lètmein', hash)).toBe(true)
    for (const wrong of ['Lètmein', 'lètmein\0', '']) expect(await passwords.verify(wrong, hash)).toBe(false)
    expect(passwords.needsRehash?.(hash)).toBe(true)
  })

  it.each([
    'pbkdf2:sha256:10000001$salt$8197f95b9ed7047877d3344beee463713c8cbc9b816062b4171b556ec3c3a272',
    'pbkdf2:sha256:1000$salt$8197',
    'md5$salt$8197',
  ])('refuses %s before any work', async (hash) => {
    const { passwords } = await run('other-hashes')
    expect(() => passwords.needsRehash?.(hash)).toThrow('no hasher accepts the format or the cost of a stored hash')
  })
})

describe('firebase-hashes', () => {
  /** A row of the export, with the sample of https://github.com/firebase/scrypt. */
  const user = {
    salt: '42xEC+ixf3L2lw==',
    passwordHash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  }

  it('accepts the password of a user of the export, and no other', async () => {
    process.env['FIREBASE_SIGNER_KEY'] =
      'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=='
    type HashOf = (user: { salt?: string; passwordHash?: string }) => string | null
    const { passwords, passwordHashOf } = await run<{ passwordHashOf: HashOf }>('firebase-hashes')
    expect(await passwords.verify('user1password', passwordHashOf(user))).toBe(true)
    expect(await passwords.verify('user2password', passwordHashOf(user))).toBe(false)
    expect(passwordHashOf({})).toBe(null)
  })
})

/** Makes a hash as Django does, with few iterations. */
function djangoHash(password: string): string {
  return `pbkdf2_sha256$1000$salt$${crypto.pbkdf2Sync(password, 'salt', 1000, 32, 'sha256').toString('base64')}`
}
