import crypto from 'node:crypto'
import express from 'express'
import { memoryAccounts, tokenRouter } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { signIn, startExamples } from '../../../support/documents/examples.js'
import { rejectionOf } from '../../../support/failures.js'
import { makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'

const { run } = startExamples(import.meta.url)

describe('the page on passwords from elsewhere', () => {
  it.each([
    'pbkdf2_sha256$12000$seasalt2$hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw=',
    'scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==',
  ])('old-hashes: accepts the password of %s, from the tests of Django, and no other', async (hash) => {
    const { passwords } = await run('old-hashes')
    expect(await passwords.verify('lètmein', hash)).toBe(true)
    expect(await passwords.verify('lètmeinz', hash)).toBe(false)
  })

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
  // Made by Werkzeug 3.1, passlib 1.7 and Django 5.2 with low costs.
  it.each([
    'pbkdf2:sha256:1000$doU6w1Xoc2fH5u99$8197f95b9ed7047877d3344beee463713c8cbc9b816062b4171b556ec3c3a272',
    'scrypt:16384:8:1$tducebI0KXxJIWer$d43f8147b5fdacdf8b3dcec26b163ad7fb30fa2bfe7e90efccb177af7ca579a4a6956fc050ce86443a679540c82dbe8c4523b1bd426c9ac8a22296da13bc5af7',
    '$pbkdf2-sha256$1000$ROjdm5NS6p1zTikFgFCq9Q$1Agxo1HGD/WR6LuYOEOpIEDoIBeyKwG0DumJENA46Kg',
    'bcrypt_sha256$$2b$04$owWSJDlNVanLeQpdH.HcC.xKgM0uxT4tqp9PZ2Df37iBtuoydDcEi',
  ])('accepts the password of %s, and no other', async (hash) => {
    const { passwords } = await run('other-hashes')
    expect(await passwords.verify('lètmein', hash)).toBe(true)
    for (const wrong of ['Lètmein', 'lètmein\0', '']) expect(await passwords.verify(wrong, hash)).toBe(false)
    expect(passwords.needsRehash?.(hash)).toBe(true)
  })

  it.each([
    'pbkdf2:sha256:10000001$salt$8197f95b9ed7047877d3344beee463713c8cbc9b816062b4171b556ec3c3a272',
    'pbkdf2:sha256:1000$salt$8197',
    '$pbkdf2-sha256$1000$ROjdm5NS6p1zTikFgFCq9Q$1Agxo1HGD',
    'bcrypt_sha256$$2b$20$owWSJDlNVanLeQpdH.HcC.xKgM0uxT4tqp9PZ2Df37iBtuoydDcEi',
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

describe('node-engine', () => {
  it('hashes where Node has Argon2, and throws a TypeError elsewhere', async () => {
    const block = run('node-engine')
    if ('argon2' in crypto) {
      const { passwords } = await block
      expect(await passwords.verify('secret', await passwords.hash('secret'))).toBe(true)
    } else {
      const error = await rejectionOf(block)
      expect(error).toBeInstanceOf(TypeError)
      expect(error).toMatchObject({ message: expect.stringContaining('Use Node 24.7 or newer') })
    }
  })
})

/** Makes a hash as Django does, with few iterations. */
function djangoHash(password: string): string {
  return `pbkdf2_sha256$1000$salt$${crypto.pbkdf2Sync(password, 'salt', 1000, 32, 'sha256').toString('base64')}`
}
