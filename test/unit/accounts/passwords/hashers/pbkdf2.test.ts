import { pbkdf2Sync } from 'node:crypto'
import { pbkdf2 } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectMatch, expectOnly, expectRefused } from './verify-only.js'

const hasher = pbkdf2()
const KEY = 'hlDLKsxgkgb1aeOppkM5atCYw5rPzAjCNQZ4NYyUROw='
const VALID = `pbkdf2_sha256$12000$seasalt2$${KEY}`

/** Makes a hash as Django does. */
function django(password: string, digest = 'sha256'): string {
  const key = pbkdf2Sync(password, 'salt', 10, digest === 'sha1' ? 20 : 32, digest)
  return `pbkdf2_${digest}$10$salt$${key.toString('base64')}`
}

describe('pbkdf2 checks hashes', () => {
  it.each([
    ['Django 1.7', 'lètmein', VALID],
    ['Django 5.1', 'lètmein', 'pbkdf2_sha256$870000$seasalt$wJSpLMQRQz0Dhj/pFpbyjMj71B2gUYp6HJS5AU+32Ac='],
    ['Django 3.2, SHA-1', 'lètmein', 'pbkdf2_sha1$260000$seasalt2$wAibXvW6jgvatCdONi6SMJ6q7mI='],
    ['passlib, SHA-1', 'not a password', 'pbkdf2_sha1$10000$wz5B6WkasRoF$atJmJ1o+XfJxKq1+Nu1f1i57Z5I='],
  ])('of %s', async (_, password, hash) => {
    await expectMatch(hasher, password, hash)
  })

  it.each([
    ['another salt', VALID.replace('seasalt2', 'seasalt')],
    ['another count', VALID.replace('12000', '12001')],
    ['another key', VALID.replace('hlDL', 'hlDM')],
  ])('with %s: nobody matches', async (_, hash) => {
    expect(hasher.accepts(hash)).toBe(true)
    expect(await hasher.verify('lètmein', hash)).toBe(false)
  })

  it('and counts NULs behind a password that fills a block of HMAC', async () => {
    const password = 'x'.repeat(64)
    expect(await hasher.verify(`${password}\0`, django(password))).toBe(false)
  })

  it.each(['sha1', 'sha256'])('of any password: %s', async (digest) => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (password) => {
        const hash = django(password, digest)
        expect(await hasher.verify(password, hash)).toBe(!password.endsWith('\0'))
        expect(await hasher.verify(`${password}x`, hash)).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})

describe('pbkdf2 does not accept', () => {
  it('more than 10,000,000 iterations', async () => {
    expect(hasher.accepts(VALID.replace('12000', '10000000'))).toBe(true)
    for (const count of ['10000001', '99999999', '4294967297']) {
      await expectRefused('pbkdf2', hasher, VALID.replace('12000', count))
    }
  })

  it.each([
    ['nothing', ''],
    ['an unusable password', '!wSOYtOGZ0iXGBTZ8kBlBgnqoWYIsUPBdjBYQmTd7'],
    ['SHA-512', VALID.replace('sha256', 'sha512')],
    ['a name of every object', VALID.replace('sha256', 'constructor')],
    ['no iterations', VALID.replace('12000', '0')],
    ['a leading zero', VALID.replace('12000', '012000')],
    ['an exponent', VALID.replace('12000', '1e3')],
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
  ])('%s', async (_, hash) => {
    await expectRefused('pbkdf2', hasher, hash)
  })

  it('anything else that is not exactly of the format', () => {
    expectOnly(hasher, VALID, /^pbkdf2_(sha1\$[1-9]\d*\$[^$]+\$.{28}|sha256\$[1-9]\d*\$[^$]+\$.{44})$/)
  })
})
