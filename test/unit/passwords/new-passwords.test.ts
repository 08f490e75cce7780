// Tests passwords/common-passwords.ts

import {
  AuthError,
  argon2id,
  bcrypt,
  createPasswords,
  type PasswordsOptions,
  SignInRefusal,
} from 'express-token-endpoint'
import { describe, expect, it, vi } from 'vitest'
import type { QueuedPasswords } from '../../../src/passwords/passwords.js'
import { expectMisuse, rejectionOf } from '../../support/failures.js'
import { countingHasher } from '../../support/fixtures.js'

const GOOD = 'violet otter sings at noon'

const createQueued = (options: PasswordsOptions = {}) =>
  createPasswords({ hashers: [countingHasher()], ...options }) as QueuedPasswords

/** Returns the reason for refusing a password, or undefined. */
async function reasonFor(password: string, options?: PasswordsOptions): Promise<string | undefined> {
  const error = await createQueued(options)
    .assertStrong(password)
    .catch((thrown: unknown) => thrown)
  if (error === undefined) return undefined
  expect(error).toBeInstanceOf(AuthError)
  expect(error).toMatchObject({ code: 'weak_password', status: 422 })
  expect((error as Error).message).not.toContain(password)
  return (error as AuthError).reason
}

/** Returns letters that are not a common password. */
const lettersOf = (length: number) => Array.from({ length }, (_, i) => 'xkvq'[(i * i + (i >> 2)) % 4]).join('')

describe('the length', () => {
  it.each([
    [undefined, 15],
    [8, 8],
    [256, 256],
  ])('is at least minLength, %s, in code points', async (minLength, least) => {
    const options = { minLength }
    expect(await reasonFor(lettersOf(least - 1), options)).toBe('too_short')
    expect(await reasonFor(lettersOf(least), options)).toBeUndefined()
    // Each of these letters is two units of UTF-16.
    const wide = [...lettersOf(least)].map((letter) => String.fromCodePoint(0x10400 + letter.charCodeAt(0))).join('')
    expect(await reasonFor(wide.slice(2), options)).toBe('too_short')
    expect(await reasonFor(wide, options)).toBeUndefined()
  })

  it('is at most 256 code points', async () => {
    expect(await reasonFor(lettersOf(256))).toBeUndefined()
    expect(await reasonFor(lettersOf(257))).toBe('too_long')
    expect(await reasonFor('💚'.repeat(256))).toBe('common')
    expect(await reasonFor('💚'.repeat(257))).toBe('too_long')
  })

  it('is named in the problem, and never the password', async () => {
    const error = (await rejectionOf(createQueued({ minLength: 12 }).assertStrong('kq7 wv2 nb4'))) as AuthError
    expect(error.toProblem()).toMatchObject({ code: 'weak_password', reason: 'too_short' })
    expect(error.message).toBe('This password is too short. Choose one of at least 12 characters.')
  })

  it('of a huge text is not counted', async () => {
    const iterate = vi.spyOn(String.prototype, Symbol.iterator)
    expect(await reasonFor('💚'.repeat(500_000))).toBe('too_long')
    expect(iterate).not.toHaveBeenCalled()
    iterate.mockRestore()
  })

  it('of bcrypt is at most 72 bytes, if it makes the hashes', async () => {
    const isForbidden = vi.fn(() => true)
    for (const [password, reason] of [
      [lettersOf(73), 'too_long'],
      [`${lettersOf(20)}\0`, 'too_long'],
      [lettersOf(72), 'forbidden'],
    ] as const) {
      expect(await reasonFor(password, { hashers: [bcrypt()], isForbidden })).toBe(reason)
      expect(await reasonFor(password, { hashers: [argon2id(), bcrypt()] })).toBeUndefined()
    }
    expect(isForbidden).toHaveBeenCalledOnce()
  })

  it.each([7, 257, 8.5, '15', null])('minLength is a whole number from 8 to 256, and not %j', (minLength) => {
    expectMisuse(
      () => createPasswords({ minLength: minLength as never }),
      /option "minLength" must be a number of characters, a whole number from 8 to 256/,
    )
  })
})

describe('the most common passwords', () => {
  it.each([
    ...['password1', 'qwertyuiop', 'iloveyou1', 'Password123!', 'welcome2026', 'P@ssw0rd', 'trustno1', '1q2w3e4r'],
    ...['11111111', '87654321', 'abcd1234', 'qwerty123', 'zxcvbnm,./', 'letmein123', 'abc123abc', '12121212'],
  ])('of 8 characters and more are refused: %s', async (password) => {
    expect(await reasonFor(password, { minLength: 8 })).toBe('common')
  })

  it.each([
    ...[
      'aaaaaaaaaaaaaaa',
      '123412341234123',
      '123456789012345',
      'abcdefghijklmno',
      'qwertyuiopasdfg',
      'zyxwvutsrqponml',
    ],
    ...['passwordpassword', 'correcthorsebatterystaple', 'Correct Horse Battery Staple', 'PasswordPassword1'],
    ...[
      '123456789987654321',
      '1qaz2wsx3edc4rfv',
      'qwertyuiop12345',
      '901234567890123',
      '5432109876543210',
      'manchester-united',
    ],
    ...[
      'letmeinletmeinletmein',
      'Welcome-Welcome-2026',
      'abc123abc123abc123',
      'password 1234567890',
      '---------------',
    ],
  ])('of 15 characters and more are refused: %s', async (password) => {
    expect(await reasonFor(password)).toBe('common')
  })

  it.each([
    ...[
      GOOD,
      'kq7 wv2 nb4 zt9',
      'purple monkey dishwasher',
      'monkeydragonsunshineqwerty',
      'the password of my bicycle',
    ],
    ...['violetviolet otter', 'zażółć gęślą jaźń', 'пароль-на-сегодня', '密碼是一句很長的話沒有人會猜到它'],
  ])('are no others: %s', async (password) => {
    expect(await reasonFor(password)).toBeUndefined()
  })
})

describe('isForbidden', () => {
  it('decides about a password that is long enough and not common', async () => {
    const isForbidden = vi.fn((password: string) => password === GOOD)
    expect(await reasonFor(lettersOf(14), { isForbidden })).toBe('too_short')
    expect(await reasonFor('passwordpassword', { isForbidden })).toBe('common')
    expect(isForbidden).not.toHaveBeenCalled()
    expect(await reasonFor(GOOD, { isForbidden })).toBe('forbidden')
    expect(await reasonFor(`${GOOD}!`, { isForbidden })).toBeUndefined()
  })

  it('may refuse with a code of the host, and is unavailable when it fails', async () => {
    const refusal = new SignInRefusal('has_your_name', { status: 422 })
    const throwing = (thrown: Error) => () => Promise.reject(thrown)
    const errorWith = (thrown: Error) => rejectionOf(createQueued({ isForbidden: throwing(thrown) }).assertStrong(GOOD))
    expect(await errorWith(refusal)).toBe(refusal)
    expect(await errorWith(new Error('down'))).toMatchObject({ code: 'unavailable', dependency: 'passwords' })
  })
})

it('hash takes a short or common password, and one of any length', async () => {
  const { hash } = createQueued()
  for (const password of ['', 'short', 'passwordpassword', lettersOf(1000)])
    expect(await hash(password)).toBe(`plain:${password}`)
})

it.each(['\ud800'.repeat(20), 7, undefined])('a password is well-formed Unicode, and not %j', async (password) => {
  expect(await rejectionOf(createQueued().assertStrong(password as never))).toBeInstanceOf(TypeError)
})
