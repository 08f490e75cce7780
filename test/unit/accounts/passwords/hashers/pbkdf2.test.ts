import { pbkdf2Sync } from 'node:crypto'
import { pbkdf2 } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rejectionOf } from '../../../../support/failures.js'
import { almost } from './verify-only.js'

const hasher = pbkdf2()
const KEY = 'hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw='
const VALID = `pbkdf2_sha256$12000$seasalt2$${KEY}`

/** Makes a hash as Django does. */
function django(password: string, iterations = 10, digest = 'sha256'): string {
  const key = pbkdf2Sync(password, 'salt', iterations, digest === 'sha1' ? 20 : 32, digest)
  return `pbkdf2_${digest}$${iterations}$salt$${key.toString('base64')}`
}

describe('pbkdf2 checks hashes of', () => {
  it.each([
    ['Django 1.7', 'lètmein', VALID],
    ['Django 4.0', 'lètmein', 'pbkdf2_sha256$320000$seasalt$Toj2II2rBvFiGQcPmUml1Nlni2UtvyRWwz/jz4q6q/4='],
    ['Django 5.1', 'lètmein', 'pbkdf2_sha256$870000$seasalt$wJSpLMQRQz0Dhj/pFpbyjMj71B2gUYp6HJS5AU+32Ac='],
    ['Django 3.2, SHA-1', 'lètmein', 'pbkdf2_sha1$260000$seasalt2$wAibXvW6jgvatCdONi6SMJ6q7mI='],
    ['passlib, SHA-1', 'not a password', 'pbkdf2_sha1$10000$wz5B6WkasRoF$atJmJ1o+XfJxKq1+Nu1f1i57Z5I='],
  ])('%s: the right password matches, and no other', async (_, password, hash) => {
    expect(hasher.accepts(hash)).toBe(true)
    expect(await hasher.verify(password, hash)).toBe(true)
    expect(await hasher.verify(`${password}z`, hash)).toBe(false)
    expect(await hasher.verify('', hash)).toBe(false)
  })

  it.each([
    ['another salt', VALID.replace('seasalt2', 'seasalt')],
    ['another count', VALID.replace('12000', '12001')],
    ['another key', VALID.replace('hlDL', 'hlDM')],
  ])('nobody when a part was changed: %s', async (_, hash) => {
    const matches = hasher.accepts(hash) && (await hasher.verify('lètmein', hash))
    expect(matches).toBe(false)
  })
})

describe('to pbkdf2 every byte counts', () => {
  it.each([
    ['a NUL behind', 'password', 'password\0'],
    ['NULs behind a password of 64 bytes', 'x'.repeat(64), `${'x'.repeat(64)}\0`],
    ['composed and decomposed letters', 'caf\u00e9', 'cafe\u0301'],
    ['a space behind', 'password', 'password '],
    ['the last of 5001', `${'x'.repeat(5000)}a`, `${'x'.repeat(5000)}b`],
    ['what is behind a NUL', 'pass\0word', 'pass\0ward'],
  ])('%s', async (_, one, other) => {
    expect(await hasher.verify(one, django(one))).toBe(true)
    expect(await hasher.verify(other, django(one))).toBe(false)
  })

  it.each(['sha1', 'sha256'])('any password matches its own hash: %s', async (digest) => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (password) => {
        const hash = django(password, 10, digest)
        expect(await hasher.verify(password, hash)).toBe(!password.endsWith('\0'))
        expect(await hasher.verify(`${password}x`, hash)).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})

describe('pbkdf2 does not accept', () => {
  it('more than 10,000,000 iterations', () => {
    expect(hasher.accepts(VALID.replace('12000', '10000000'))).toBe(true)
    expect(hasher.accepts(VALID.replace('12000', '10000001'))).toBe(false)
    expect(hasher.accepts(VALID.replace('12000', '99999999'))).toBe(false)
    expect(hasher.accepts(VALID.replace('12000', '4294967297'))).toBe(false)
  })

  it.each([
    ['nothing', ''],
    ['an unusable password', '!wSOYtOGZ0iXGBTZ8kBlBgnqoWYIsUPBdjBYQmTd7'],
    ['SHA-512', VALID.replace('sha256', 'sha512')],
    ['a name of every object', VALID.replace('sha256', 'constructor')],
    ['no iterations', VALID.replace('12000', '0')],
    ['a leading zero', VALID.replace('12000', '012000')],
    ['a sign', VALID.replace('12000', '+12000')],
    ['an exponent', VALID.replace('12000', '1e3')],
    ['a fraction', VALID.replace('12000', '12000.5')],
    ['no salt', VALID.replace('seasalt2', '')],
    ['a salt with a space', VALID.replace('seasalt2', 'sea salt')],
    ['a salt with a letter above ASCII', VALID.replace('seasalt2', 'sèasalt')],
    ['a salt of 129 characters', VALID.replace('seasalt2', 's'.repeat(129))],
    ['a key of 20 bytes for SHA-256', `pbkdf2_sha256$12000$seasalt2$${Buffer.alloc(20, 7).toString('base64')}`],
    ['a key of 32 bytes for SHA-1', `pbkdf2_sha1$12000$seasalt2$${KEY}`],
    ['no padding', VALID.slice(0, -1)],
    ['bits behind the key', VALID.replace('ROw=', 'ROx=')],
    ['base64url', VALID.replace('hlDL', 'hl_L')],
    ['a space before', ` ${VALID}`],
    ['a newline behind', `${VALID}\n`],
    ['a part more', `${VALID}$AA`],
  ])('%s, and verify rejects', async (_, hash) => {
    expect(hasher.accepts(hash)).toBe(false)
    expect(await rejectionOf(hasher.verify('lètmein', hash) as Promise<boolean>)).toMatchObject({
      message: 'pbkdf2: the stored hash is malformed, or its cost is above the limit. Call "accepts" before "verify"',
    })
  })

  it('anything else that is not exactly of the format', () => {
    const FORMAT = /^pbkdf2_(sha1\$[1-9]\d*\$[^$]+\$.{28}|sha256\$[1-9]\d*\$[^$]+\$.{44})$/
    fc.assert(
      fc.property(almost(VALID), (hash) => {
        if (hasher.accepts(hash)) expect(hash).toMatch(FORMAT)
      }),
      { numRuns: 2000 },
    )
  })
})
