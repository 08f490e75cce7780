import { existsSync } from 'node:fs'
import { inspect } from 'node:util'
import { AuthError, type TokenRefusal } from 'express-token-endpoint'
import { expect, onTestFinished } from 'vitest'
import { root } from './documents/repository.js'

/** Returns the reason of a rejection. Fails when the promise does not reject. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  return expect.fail(`expected a rejection, got ${inspect(value)}`)
}

/** Returns the error that a function throws. Fails when the function does not throw. */
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
const EXPIRED = 'The access token expired.'

/** Expects the one refusal of invalid tokens. Only the message tells an expired token from other invalid tokens. */
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

/** The end of each message about misuse: the page that helps. */
const PAGE = /\.? See express-token-endpoint\/(docs\/[\w/-]+\.md)$/

/** Expects a TypeError that names the mistake and an existing page, and does not contain the passed values. */
export function expectMisuse(run: () => unknown, says: string | RegExp, hides: readonly string[] = []): void {
  const error = thrownBy(run) as TypeError
  expect(error).toBeInstanceOf(TypeError)
  const [end, page = ''] = PAGE.exec(error.message) ?? expect.fail(`no page: ${error.message}`)
  expect(existsSync(root + page), page).toBe(true)
  expect(error.message.slice(0, -end.length)).toMatch(says)
  expect(error.cause).toBeUndefined()
  for (const secret of hides) expect(inspect(error, { depth: 9 })).not.toContain(secret)
}

/** Collects what would end the process: uncaught exceptions and unhandled rejections, each with its message, until the test ends. */
export function fatalErrors(): string[] {
  const seen: string[] = []
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    const before = process.rawListeners(event) as (() => void)[]
    process.removeAllListeners(event).on(event, (error?: Error) => void seen.push(`${event}: ${error?.message}`))
    onTestFinished(() => {
      process.removeAllListeners(event)
      for (const listener of before) process.on(event, listener)
    })
  }
  return seen
}
