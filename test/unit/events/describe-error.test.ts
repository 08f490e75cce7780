import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { callHost } from '../../../src/concurrency/host-call.js'
import { describeError, reasonOf } from '../../../src/events/describe-error.js'
import { misuse, PAGE } from '../../../src/options/misuse.js'

class DatabaseError extends Error {}

const SECRET = 'postgres://app:pa55word@db:5432/app'

/** Changes an error whose stack holds its first message. */
function changed(members: object): Error {
  const error = new Error(SECRET)
  expect(error.stack).toContain(SECRET)
  return Object.assign(error, members)
}

const HERE = /^Error at .*describe-error\.test\.ts:\d+:\d+$/
it.each<[string, unknown, RegExp]>([
  ['an error', new Error(SECRET), HERE],
  ['an error of another class', new DatabaseError(SECRET), /^DatabaseError at .*describe-error\.test\.ts:\d+:\d+$/],
  ['lines that look like calls', new Error(`no\n    at ${SECRET}\n    at /${SECRET}:1:1`), HERE],
  ['a changed message', changed({ message: 'x' }), /^Error$/],
  ['a changed stack', changed({ stack: SECRET }), /^Error$/],
  [
    'lines of a stack that are no calls',
    changed({ message: 'x', stack: `Error: x\n-    at /${SECRET}:1:1\n    at /${SECRET}:1:1 -` }),
    /^Error$/,
  ],
  ['a call on Windows', changed({ message: 'x', stack: 'E: x\n    at f (C:\\a.js:1:2)' }), /^Error at C:\\a\.js:1:2$/],
  [
    'a call after the message',
    changed({ message: 'x', stack: 'E: x\n    at x\n    at /b.js:1:2' }),
    /^Error at \/b\.js:1:2$/,
  ],
  ['a changed name', changed({ name: SECRET }), HERE],
  ['an error without a class', Object.setPrototypeOf(new Error(SECRET), null), /^Object at /],
  ['text', SECRET, /^what was thrown is not an Error$/],
  ['a rejection of rate-limiter-flexible', { msBeforeNext: 1, key: SECRET }, /^what was thrown is not an Error$/],
])('shows the class and the line of %s, and nothing of the message', (_, error, shown) => {
  const text = describeError(error)
  expect(text).toMatch(shown)
  expect(text).not.toContain('pa55word')
})

it.each(['message', 'stack'])('says that an error is not readable when its %s throws', (name) => {
  const error = Object.defineProperty(new Error(SECRET), name, { get: () => expect.fail(SECRET) })
  expect(describeError(error)).toBe('the error is not readable')
})

it('shows the line inside Node of a refused connection', async () => {
  const error = await new Promise((resolve) => connect(1, '127.0.0.1').on('error', resolve))
  expect(describeError(error)).toMatch(/^Error at node:net:\d+:\d+$/)
})

it('shows the message of an error of this package, which holds no secret', async () => {
  expect(describeError(misuse('isRevoked: must be true or false', PAGE.signOut))).toContain('must be true or false')
  const late = await callHost('accounts', () => new Promise(() => {}), { timeout: 1 }).catch(({ cause }) => cause)
  expect(describeError(late)).toBe('no result within 1 ms')
})

it.each<[string, unknown]>([
  ['fetch failed', new Error('fetch failed')],
  ['fetch failed (ECONNREFUSED)', new Error('fetch failed', { cause: { code: 'ECONNREFUSED' } })],
  ['fetch failed', new Error('fetch failed', { cause: { code: 7 } })],
  ['it failed', undefined],
  ['it failed', { message: 7 }],
  ['it failed', Object.defineProperty(new Error('x'), 'message', { get: () => expect.fail('x') })],
])('says why a fetch has failed: %s', (says, error) => expect(reasonOf(error)).toBe(says))
