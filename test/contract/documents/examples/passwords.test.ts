import { pbkdf2Sync } from 'node:crypto'
import express from 'express'
import { type Hasher, memoryAccounts, type Passwords, tokenRouter } from 'express-token-endpoint'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { startExamples } from '../../../support/documents/examples.js'
import { makeIssuer } from '../../../support/fixtures.js'
import { TOKEN_PATH } from '../../../support/http.js'
import { PASSWORDS } from './contexts/passwords.js'
import { signIn } from './sign-in.js'

const { run } = startExamples(import.meta.url, PASSWORDS)

const block = () => run<{ django: Hasher; passwords: Passwords }>('django-hasher')

/** Hashes of "lètmein" from the tests of Django 1.7 and 5.1. */
const DJANGO = [
  'pbkdf2_sha256$12000$seasalt2$hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw=',
  'pbkdf2_sha256$870000$seasalt$wJSpLMQRQz0Dhj/pFpbyjMj71B2gUYp6HJS5AU+32Ac=',
]

describe('the page on passwords from elsewhere', () => {
  it.each(DJANGO)('django-hasher: accepts the password of %s, and no other', async (hash) => {
    const { passwords } = await block()
    expect(await passwords.verify('lètmein', hash)).toBe(true)
    expect(await passwords.verify('lètmeinz', hash)).toBe(false)
    expect(await passwords.verify('lètmein\0', hash)).toBe(false)
    expect(await passwords.verify('', hash)).toBe(false)
  })

  it.each([
    ['another algorithm', 'pbkdf2_sha1$12000$seasalt2$hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw='],
    ['ten million iterations', 'pbkdf2_sha256$10000000$seasalt2$hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw='],
    ['a cut digest', 'pbkdf2_sha256$12000$seasalt2$hlDLKsxgkgb1aeOppkM5'],
    ['an unusable password', '!wSOYtOGZ0iXGBTZ8kBlBgnqoWYIsUPBdjBYQmTd7'],
  ])('django-hasher: does not accept a hash with %s', async (_, hash) => {
    const { django, passwords } = await block()
    expect(django.accepts(hash)).toBe(false)
    await expect(passwords.verify('lètmein', hash)).rejects.toThrow('no format that a hasher accepts')
  })

  it('django-hasher: a login replaces the hash with an argon2id hash', async () => {
    const { passwords } = await block()
    const email = 'alice@example.com'
    const accounts = memoryAccounts([{ id: 'acc-1', email, passwordHash: djangoHash('secret') }])
    const app = express().use(tokenRouter({ tokens: makeIssuer(), accounts, passwords }))
    await request(app).post(TOKEN_PATH).send({ email, password: 'Secret' }).expect(403)
    await signIn(app).expect(200)
    const account = await accounts.findById('acc-1')
    expect(account?.passwordHash).toMatch(/^\$argon2id\$/)
    await signIn(app).expect(200)
  })
})

/** Makes a hash as Django does, with few iterations. */
function djangoHash(password: string): string {
  return `pbkdf2_sha256$1000$salt$${pbkdf2Sync(password, 'salt', 1000, 32, 'sha256').toString('base64')}`
}
