import type { Account } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { checkAccount, storeOf } from '../../src/accounts/account.js'
import { expectMisuse } from '../support/failures.js'
import { makeStore } from '../support/fixtures.js'

const least: Account = { id: 'acc-1', passwordHash: 'plain:x' }

describe('checkAccount', () => {
  it.each([undefined, null])('takes %s for no account', (value) => {
    expect(checkAccount(value)).toBeUndefined()
  })

  it.each<[string, object]>([
    ['the least', least],
    ['without a password', { ...least, passwordHash: null }],
    ['all members', { ...least, disabled: true, scopes: ['a'], claims: { a: 1 }, tokensValidAfter: new Date(0) }],
    [
      'all the optional null, as SQL has it',
      { ...least, disabled: null, scopes: null, claims: null, tokensValidAfter: null },
    ],
    ['all the optional undefined', { ...least, disabled: undefined, scopes: undefined, claims: undefined }],
    ['nothing in them', { ...least, scopes: [], claims: {} }],
    ['members of the host’s', { ...least, name: 'Alice' }],
    ['a row without a prototype', Object.assign(Object.create(null), least)],
    [
      'getters of a class',
      new (class {
        get id() {
          return 'acc-1'
        }
        get passwordHash() {
          return null
        }
      })(),
    ],
  ])('hands an account on as it is: %s', (_, value) => {
    expect(checkAccount(value)).toBe(value)
  })

  it.each<[string, unknown, string]>([
    ['false', false, 'must be an object'],
    ['true', true, 'must be an object'],
    ['an empty string', '', 'must be an object'],
    ['an id alone', 'acc-1', 'must be an object'],
    ['zero', 0, 'must be an object'],
    ['rows', [least], 'must be an object'],
    ['no rows', [], 'must be an object'],
    ['a function', () => least, 'must be an object'],
    ['an empty object', {}, '"id" must be'],
    ['a number as id', { ...least, id: 7 }, '"id" must be a non-empty string'],
    ['an empty id', { ...least, id: '' }, '"id" must be a non-empty string'],
    ['no hash', { id: 'acc-1' }, '"passwordHash" must be a string, or null'],
    ['an undefined hash', { ...least, passwordHash: undefined }, '"passwordHash" must be a string, or null'],
    ['a hash in bytes', { ...least, passwordHash: Buffer.from('plain:x') }, '"passwordHash" must be a string, or null'],
    ['disabled as a number', { ...least, disabled: 1 }, '"disabled" must be a boolean'],
    ['disabled as zero', { ...least, disabled: 0 }, '"disabled" must be a boolean'],
    ['disabled as text', { ...least, disabled: 'false' }, '"disabled" must be a boolean'],
    ['scopes as text', { ...least, scopes: 'a b' }, '"scopes" must be an array of scope tokens'],
    ['a scope with a space', { ...least, scopes: ['a b'] }, '"scopes" must be an array of scope tokens'],
    ['claims as JSON text', { ...least, claims: '{}' }, '"claims" must be an object'],
    ['claims as an array', { ...least, claims: [] }, '"claims" must be an object'],
    [
      'tokensValidAfter as text',
      { ...least, tokensValidAfter: '2026-03-01' },
      '"tokensValidAfter" must be a valid Date',
    ],
    ['tokensValidAfter as a number', { ...least, tokensValidAfter: 0 }, '"tokensValidAfter" must be a valid Date'],
    ['a Date that is none', { ...least, tokensValidAfter: new Date('x') }, '"tokensValidAfter" must be a valid Date'],
  ])('refuses %s', (_, value, says) => {
    expectMisuse(() => checkAccount(value), says, ['plain:x', '2026-03-01'])
  })
})

describe('storeOf', () => {
  it('makes a store of a look-up', async () => {
    const lookup = () => least
    expect(storeOf(lookup)).toEqual({ findByEmail: lookup })
  })

  it('leaves a store as it is', () => {
    const store = makeStore()
    expect(storeOf(store)).toBe(store)
  })
})
