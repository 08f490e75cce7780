import { AuthError } from 'express-token-endpoint'
import { expect } from 'vitest'
import { ACCOUNTS } from '../fixtures.js'

const { alice, bob } = ACCOUNTS

const throwing = (value: unknown) => () => {
  throw value
}

/** Never settles. */
export const hang = () => new Promise<never>(() => {})

/** Ways in which a function of the host fails. Each must end in `503`. */
export const FAILURES: readonly [does: string, run: () => unknown][] = [
  ['throws', throwing(new Error('down'))],
  ['throws a text', throwing('down')],
  ['throws undefined', throwing(undefined)],
  ['throws an AuthError', throwing(new AuthError('invalid_token'))],
  ['rejects', () => Promise.reject(new Error('down'))],
  ['rejects with null', () => Promise.reject(null)],
  ['rejects with undefined', () => Promise.reject()],
  ['hangs', hang],
  ['returns a thenable that hangs', () => Object.defineProperty({}, 'then', { value: () => {} })],
]

const ID = '"id" must be a non-empty string'
const HASH = '"passwordHash" must be a string, or null'
const VALID_AFTER = '"tokensValidAfter" must be a valid Date'
const LIFETIME = 'account: "lifetime" must be a number of seconds or a string'

/** Values that are not an account, with the message of the error. `findByEmail` and `findById` must not return them. */
export const INVALID_ACCOUNTS: readonly [name: string, value: unknown, says: string][] = [
  ...[false, true, 0, 1, '', 'acc-1', [alice], [], () => alice].map((value): [string, unknown, string] => {
    return [`the ${typeof value} ${JSON.stringify(value)}`, value, 'must be an object']
  }),
  ['an empty object', {}, ID],
  ['an undefined id', { ...alice, id: undefined }, ID],
  ['an empty id', { ...alice, id: '' }, ID],
  ['a number as id', { ...alice, id: 1 }, ID],
  ['an object as id', { ...alice, id: { toString: () => 'acc-1' } }, ID],
  ['an account without passwordHash', { id: 'acc-1', password_hash: 'plain:x' }, HASH],
  ['an undefined passwordHash', { ...alice, passwordHash: undefined }, HASH],
  ['a passwordHash of bytes', { ...alice, passwordHash: Buffer.from('plain:x') }, HASH],
  ['0 as disabled', { ...alice, disabled: 0 }, '"disabled" must be a boolean'],
  ['1 as disabled', { ...alice, disabled: 1 }, '"disabled" must be a boolean'],
  ['a text as disabled', { ...alice, disabled: 'false' }, '"disabled" must be a boolean'],
  ['a text as scopes', { ...alice, scopes: 'a b' }, '"scopes" must be an array of scope tokens'],
  ['a scope with a space', { ...alice, scopes: ['a b'] }, '"scopes" must be an array of scope tokens'],
  ['a JSON text as claims', { ...alice, claims: '{}' }, '"claims" must be an object'],
  ['an array as claims', { ...alice, claims: ['x'] }, '"claims" must be an object'],
  ['a text as tokensValidAfter', { ...alice, tokensValidAfter: '2026-03-01' }, VALID_AFTER],
  ['a number as tokensValidAfter', { ...alice, tokensValidAfter: 0 }, VALID_AFTER],
  ['an invalid Date', { ...alice, tokensValidAfter: new Date('x') }, VALID_AFTER],
  ['a lifetime below a second', { ...alice, lifetime: 0 }, LIFETIME],
  ['a lifetime without a unit', { ...alice, lifetime: '600' }, LIFETIME],
  ['a lifetime above a year', { ...alice, lifetime: '367 days' }, LIFETIME],
]

const THROWING_MEMBER: [name: string, value: unknown] = [
  'a member that throws',
  {
    ...alice,
    get scopes() {
      return expect.fail('lazy')
    },
  },
]

/** Accounts that are valid but cannot log in. `findByEmail` must not return them. */
const INVALID_LOGINS: [name: string, value: unknown][] = [
  ['a passwordHash of no known format', { ...alice, passwordHash: 'md5:x' }],
  ['an empty passwordHash', { ...alice, passwordHash: '' }],
  ['claims that are not JSON', { ...alice, claims: { big: 1n } }],
]

/** Results of a revocation check that are neither true nor false. */
const INVALID_REVOCATIONS = [
  ...[undefined, null, 0, 1, '', 'false', {}, { revoked: false }],
  ...[[], Number.NaN, 0n, Object(false)],
].map((value): [name: string, value: unknown] => [`the ${typeof value} ${JSON.stringify(`${value}`)}`, value])

/** Results of a password check that are not true. Each must refuse the login. */
export const NOT_TRUE: readonly unknown[] = [1, 'true', 'yes', {}, [[]], null, undefined, Object(true)]

const failing = (values: readonly (readonly [name: string, value: unknown, says?: string])[]) => [
  ...FAILURES,
  ...values.map(([name, value]): [string, () => unknown] => [`returns ${name}`, () => value]),
  ...values.map(([name, value]): [string, () => unknown] => [`resolves with ${name}`, async () => value]),
]

/** Failures and invalid results of `findByEmail`. Each must end in `503`. */
export const INVALID_BY_EMAIL = failing([...INVALID_ACCOUNTS, THROWING_MEMBER, ...INVALID_LOGINS])

/** Failures and invalid results of `findById` for Alice's id. Each must end in `503`. */
export const INVALID_BY_ID = failing([...INVALID_ACCOUNTS, THROWING_MEMBER, ['another account', bob]])

/** Failures and invalid results of `isRevoked`. Each must end in `503`. */
export const INVALID_REVOKED = failing(INVALID_REVOCATIONS)
