import { inspect } from 'node:util'
import { AuthError, type TokenRefusal } from 'express-token-endpoint'
import { expect } from 'vitest'

/** What a promise rejects with. Fails when it does not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  return expect.fail(`expected a rejection, got ${inspect(value)}`)
}

/** What a function throws. Fails when it does not. */
export function thrownBy(run: () => unknown): unknown {
  let value: unknown
  try {
    value = run()
  } catch (error) {
    return error
  }
  return expect.fail(`expected a throw, got ${inspect(value)}`)
}

export async function refusalOf(promise: Promise<unknown>): Promise<AuthError> {
  const error = await rejectionOf(promise)
  expect(error).toBeInstanceOf(AuthError)
  return error as AuthError
}

export const INVALID = 'The access token is not valid.'
export const EXPIRED = 'The access token expired.'

/** The one way in which a token is refused. Only the expired is told apart by its message. */
export async function expectInvalidToken(promise: Promise<unknown>, reason: TokenRefusal): Promise<AuthError> {
  const error = await refusalOf(promise)
  expect({ code: error.code, status: error.status, reason: error.reason, message: error.message }).toEqual({
    code: 'invalid_token',
    status: 401,
    reason,
    message: reason === 'expired' ? EXPIRED : INVALID,
  })
  expect(error.cause).toBeUndefined()
  return error
}

/** Misuse: a TypeError that says what was wrong, and shows nothing of what was given. */
export function expectMisuse(run: () => unknown, says: string | RegExp, hides: readonly string[] = []): void {
  const error = thrownBy(run) as TypeError
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toMatch(says)
  expect(error.cause).toBeUndefined()
  for (const secret of hides) expect(inspect(error, { depth: 9 })).not.toContain(secret)
}
