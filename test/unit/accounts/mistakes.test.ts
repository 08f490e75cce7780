import { describe, expect, it } from 'vitest'
import { hashMembersOf } from '../../../src/accounts/mistakes.js'

describe('a member of a row looks like a password hash', () => {
  const LONG = 'abcdefghijklmnopqrst'

  it.each([
    `$2b$10$${LONG}`,
    `$argon2id$v=19$${LONG}`,
    `$scrypt-sha256$${LONG}`,
    `pbkdf2_sha256$${LONG}`,
    `scrypt:${LONG}`,
    `bcrypt$${LONG}`,
  ])('when its text names a hasher: %s', (text) => {
    expect(hashMembersOf({ id: 'acc-1', old: text })).toEqual(['old'])
  })

  it.each([
    `the hash $2b$10$${LONG}`,
    '$5$ a day',
    `$$${LONG}`,
    'bcrypt or another hasher of passwords',
    `pbkdf2 ${LONG}`,
    undefined,
    7,
  ])('but no other value does: %s', (value) => {
    expect(hashMembersOf({ id: 'acc-1', note: value })).toEqual([])
  })
})
