import express from 'express'
import {
  argon2id,
  createPasswords,
  firebaseScrypt,
  memoryAccounts,
  pbkdf2,
  scrypt,
  tokenRouter,
} from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../../../support/failures.js'
import { makeIssuer } from '../../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../../support/http.js'
import { outcomeOf, polluted } from '../../../../support/pollution.js'
import { FIREBASE, FIREBASE_HASH } from './verify-only.js'

const first = argon2id({ memoryCost: 64, timeCost: 1 })
const passwords = createPasswords({ hashers: [first, pbkdf2(), scrypt(), firebaseScrypt(FIREBASE)] })

const PBKDF2 = 'pbkdf2_sha256$12000$seasalt2$hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw='
const SCRYPT = '$scrypt$ln=8,r=8,p=1$wlhLyXmP8b53bm1NKYVQqg$mTpvG8lzuuDk+DWz8HZIB6Vum6erDuUm0As5yU+VxWA'
const OLD = [
  ['pbkdf2', 'lètmein', PBKDF2, pbkdf2()],
  ['scrypt', 'test', SCRYPT, scrypt()],
  ['firebaseScrypt', 'user1password', FIREBASE_HASH, firebaseScrypt(FIREBASE)],
] as const

/** Creates an app with one account. */
function appWith(passwordHash: string) {
  const accounts = memoryAccounts([{ id: 'acc-1', email: 'alice@example.com', passwordHash }])
  const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts, passwords, onEvent: () => {} }))
  const login = (password: string) => request(app).post(TOKEN_PATH).send({ email: 'alice@example.com', password })
  return { login, stored: async () => (await accounts.findById('acc-1'))?.passwordHash }
}

describe('a login', () => {
  it.each(OLD)('replaces a hash of %s with argon2id, once the password is right', async (_, password, hash) => {
    const { login, stored } = appWith(hash)
    await login('wrong').expect(403)
    expect(await stored()).toBe(hash)
    await login(password).expect(200)
    expect(await stored()).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/)
    await login(password).expect(200)
    await login('wrong').expect(403)
  })

  it.each([
    ['pbkdf2', PBKDF2.replace('12000', '10000001')],
    ['scrypt', SCRYPT.replace('ln=8', 'ln=20')],
    ['firebaseScrypt', FIREBASE_HASH.slice(0, -4)],
  ])('is 503 for a hash that %s does not accept', async (_, hash) => {
    const { login, stored } = appWith(hash)
    await login('test').expect(503)
    expect(await stored()).toBe(hash)
  })
})

describe.each(OLD)('%s only checks', (name, password, hash, hasher) => {
  it('so it cannot be the first hasher', () => {
    const says =
      /must be an array whose first hasher has "hash", but is an array\. Put argon2id\(\) first: it makes new hashes\. pbkdf2\(\), scrypt\(\) and firebaseScrypt\(\) only check old hashes$/
    expectMisuse(() => createPasswords({ hashers: [hasher, first] }), says)
  })

  it('its own hashes, and refuses long text at once', () => {
    for (const [other, , foreign] of OLD) expect(hasher.accepts(foreign)).toBe(other === name)
    for (const text of ['A', '1', '=', '$', '$A', '\n', hash]) {
      const long = text.repeat(200_000)
      for (const one of [long, hash + long, hash.replace(/\d/, long)]) expect(hasher.accepts(one)).toBe(false)
    }
  })

  it('well-formed text, and reads nothing from a polluted prototype', async () => {
    expect(await passwords.verify(`${password}\ud800`, hash)).toBe(false)
    const members = { iterations: 1, N: 2, r: 1, p: 1, cost: 2, maxmem: 1, blockSize: 1, parallelization: 2 }
    const { value } = await polluted(members, () => outcomeOf(() => hasher.verify(password, hash)))
    expect(value).toBe(true)
  })
})
