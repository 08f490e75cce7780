import { firebaseScrypt } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { expectMisuse } from '../../../../support/failures.js'
import {
  expectMatch,
  expectOnly,
  expectRefused,
  FIREBASE,
  FIREBASE_DIGEST,
  FIREBASE_HASH,
  FIREBASE_SALT,
} from './verify-only.js'

const hasher = firebaseScrypt(FIREBASE)
const PASSWORD = 'user1password'
const stored = (salt: string, digest: string) => `$firebase-scrypt$${salt}$${digest}`
const base64url = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')

describe('firebaseScrypt checks Firebase’s sample', () => {
  it.each([
    ['as exported', FIREBASE_HASH],
    ['in base64url', base64url(FIREBASE_HASH)],
    ['without padding', FIREBASE_HASH.replaceAll('=', '')],
  ])('%s', async (_, hash) => {
    await expectMatch(hasher, PASSWORD, hash)
  })

  const otherKey = `k${FIREBASE.signerKey.slice(1)}`

  it.each([
    ['signer key', { signerKey: otherKey }],
    ['salt separator', { saltSeparator: 'CA==' }],
    ['rounds', { rounds: 7 }],
    ['memory cost', { memCost: 13 }],
  ])('not with another %s', async (_, other) => {
    expect(await firebaseScrypt({ ...FIREBASE, ...other }).verify(PASSWORD, FIREBASE_HASH)).toBe(false)
  })

  it('not with another salt', async () => {
    expect(await hasher.verify(PASSWORD, stored('42xEC+ixf3L2lg==', FIREBASE_DIGEST))).toBe(false)
  })

  it('with parameters in base64url, too', async () => {
    const same = firebaseScrypt({ ...FIREBASE, signerKey: base64url(FIREBASE.signerKey) })
    expect(await same.verify(PASSWORD, FIREBASE_HASH)).toBe(true)
  })
})

describe('firebaseScrypt does not accept', () => {
  it.each([
    ['nothing', ''],
    ['the hash alone', FIREBASE_DIGEST],
    ['no salt', stored('', FIREBASE_DIGEST)],
    ['a salt of 130 bytes', stored(Buffer.alloc(130).toString('base64'), FIREBASE_DIGEST)],
    ['no hash', stored(FIREBASE_SALT, '')],
    ['a hash shorter than the signer key', stored(FIREBASE_SALT, Buffer.alloc(63).toString('base64'))],
    ['a hash longer than the signer key', stored(FIREBASE_SALT, Buffer.alloc(65).toString('base64'))],
    ['bits behind the salt', stored('42xEC+ixf3L2lx==', FIREBASE_DIGEST)],
    ['bits behind the hash', `${FIREBASE_HASH.slice(0, -3)}R==`],
    ['half of the padding', FIREBASE_HASH.slice(0, -1)],
    ['costs of its own', FIREBASE_HASH.replace('$42', '$ln=30$42')],
    ['a space before', ` ${FIREBASE_HASH}`],
    ['a newline behind', `${FIREBASE_HASH}\n`],
    ['a part more', `${FIREBASE_HASH}$AA`],
  ])('%s', async (_, hash) => {
    await expectRefused('firebaseScrypt', hasher, hash)
  })

  it('anything else that is not exactly of the format', () => {
    expectOnly(hasher, FIREBASE_HASH, /^\$firebase-scrypt\$[\w+/-]{2,}={0,2}\$[\w+/-]{86}(==)?$/)
  })
})

describe('firebaseScrypt refuses', () => {
  const bytes = (length: number) => Buffer.alloc(length, 7).toString('base64')

  it.each([
    [
      'signerKey',
      "the project's signer key, 32 to 128 bytes in base64",
      [undefined, '', 'not base64!', bytes(31), bytes(129), 7, Buffer.alloc(64)],
    ],
    ['saltSeparator', "the project's salt separator, 1 to 32 bytes in base64", [undefined, '', '?', bytes(33), null]],
    ['rounds', 'a number of rounds, a whole number from 1 to 8', [undefined, 0, 9, 1.5, '8', null]],
    ['memCost', 'a memory cost, a whole number from 1 to 14', [undefined, 0, 15, 1.5, '14', 16_384]],
  ] as const)('a wrong %s, and says that it is %s', (name, what, values) => {
    for (const value of values) {
      const says = `firebaseScrypt: option "${name}" must be ${what}, but is `
      expectMisuse(() => firebaseScrypt({ ...FIREBASE, [name]: value } as never), says, [FIREBASE.signerKey])
    }
  })

  it('a signer key that is wrong, without showing it', () => {
    const signerKey = FIREBASE.signerKey.replace('jx', 'j*')
    const says = 'Copy it from the password hash parameters of the Firebase console'
    expectMisuse(() => firebaseScrypt({ ...FIREBASE, signerKey }), says, [signerKey])
  })

  it.each([
    ...['base64_signer_key', 'key', 'hashKey'].map((name) => [name, 'signerKey']),
    ['base64_salt_separator', 'saltSeparator'],
    ...['mem_cost', 'memoryCost'].map((name) => [name, 'memCost']),
  ])('the name %s, and says that %s is meant', (name = '', meant) => {
    expectMisuse(() => firebaseScrypt({ [name]: 1 } as never), `unknown option "${name}". Did you mean "${meant}"?`)
  })

  it('nothing that is within the limits', () => {
    const most = { signerKey: bytes(128), saltSeparator: bytes(32), rounds: 8, memCost: 14 }
    const least = { signerKey: bytes(32), saltSeparator: bytes(1), rounds: 1, memCost: 1 }
    for (const options of [most, least]) expect(() => firebaseScrypt(options)).not.toThrow()
  })

  it('no options', () => {
    expectMisuse(() => firebaseScrypt(undefined as never), 'firebaseScrypt: option "signerKey" must be')
  })
})
