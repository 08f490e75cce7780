import { runInNewContext } from 'node:vm'
import type { Account } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { checkAccount, storeOf } from '../../../src/accounts/account.js'
import { expectMisuse } from '../../support/failures.js'
import { makeStore } from '../../support/fixtures.js'
import { INVALID_ACCOUNTS } from '../../support/invalid-results.js'
import { outcomeOf, polluted } from '../../support/pollution.js'

const least: Account = { id: 'acc-1', passwordHash: 'plain:x' }

describe('checkAccount', () => {
  it.each([undefined, null])('takes %s for no account', (value) => {
    expect(checkAccount(value)).toBeUndefined()
  })

  it.each<[string, object]>([
    ['the least', least],
    ['without a password', { ...least, passwordHash: null }],
    [
      'all members',
      {
        ...least,
        disabled: true,
        scopes: ['a'],
        claims: { a: 1 },
        tokensValidAfter: new Date(0),
        lifetime: '10m',
      },
    ],
    [
      'all the optional null, as SQL has it',
      { ...least, disabled: null, scopes: null, claims: null, tokensValidAfter: null, lifetime: null },
    ],
    ['all the optional undefined', { ...least, disabled: undefined, scopes: undefined, claims: undefined }],
    ['nothing in them', { ...least, scopes: [], claims: {} }],
    ['members of the host’s', { ...least, name: 'Alice' }],
    ['a row without a prototype', Object.assign(Object.create(null), least)],
  ])('copies the members of an account: %s', (_, value) => {
    const isKept = ([name, member]: [string, unknown]) =>
      name !== 'name' && (member !== null || name === 'passwordHash')
    const account = checkAccount(value)
    expect(account).not.toBe(value)
    expect(account).toEqual(Object.fromEntries(Object.entries(value).filter(isKept)))
    expect(Object.getPrototypeOf(account)).toBeNull()
  })

  it('reads what a class provides by getters', () => {
    class Row {
      get id() {
        return 'acc-1'
      }
      get passwordHash() {
        return null
      }
    }
    expect(checkAccount(new Row())).toEqual({ id: 'acc-1', passwordHash: null })
  })

  it('leaves out what the store left out, or set to null', () => {
    const nothing = { disabled: null, scopes: undefined, claims: null, tokensValidAfter: undefined, lifetime: null }
    expect(Object.keys(checkAccount({ ...least, ...nothing, name: 'Alice' }) ?? {})).toEqual(['id', 'passwordHash'])
  })

  it('reads each member once: what is checked is what is used', () => {
    const reads: string[] = []
    const once = <T>(name: string, first: T, later: unknown) => ({
      enumerable: true,
      get: () => (reads.push(name) > 0 && reads.filter((read) => read === name).length === 1 ? first : later),
    })
    const account = checkAccount(
      Object.defineProperties(
        {},
        {
          id: once('id', 'acc-1', 'acc-2'),
          passwordHash: once('passwordHash', 'plain:x', 7),
          disabled: once('disabled', true, false),
          scopes: once('scopes', ['a'], ['admin']),
          claims: once('claims', { a: 1 }, { admin: true }),
          tokensValidAfter: once('tokensValidAfter', new Date(7), undefined),
          lifetime: once('lifetime', '10m', '366 days'),
        },
      ),
    )
    expect(account).toEqual({
      id: 'acc-1',
      passwordHash: 'plain:x',
      disabled: true,
      scopes: ['a'],
      claims: { a: 1 },
      tokensValidAfter: new Date(7),
      lifetime: '10m',
    })
    expect(reads.sort()).toEqual(['claims', 'disabled', 'id', 'lifetime', 'passwordHash', 'scopes', 'tokensValidAfter'])
  })

  it('copies the scopes, so that a later change does not count', () => {
    const scopes = ['a']
    const account = checkAccount({ ...least, scopes })
    scopes.push('admin')
    expect(account?.scopes).toEqual(['a'])
  })

  it('takes a Date of another realm', () => {
    const tokensValidAfter: unknown = runInNewContext('new Date(7)')
    expect(checkAccount({ ...least, tokensValidAfter })?.tokensValidAfter?.getTime()).toBe(7)
  })

  it.each<[string, unknown]>([
    ['disabled', true],
    ['scopes', ['admin']],
    ['claims', { admin: true }],
    ['tokensValidAfter', new Date(0)],
    ['lifetime', '366 days'],
  ])('takes no %s that every object inherits, and neither does who reads the account', async (name, value) => {
    const read = await polluted({ [name]: value }, () => {
      const account = checkAccount({ ...least }) as unknown as Record<string, unknown>
      return [account[name], name in account]
    })
    expect(read).toEqual([undefined, false])
  })

  it.each<[string, unknown]>([
    ['id', 'acc-1'],
    ['passwordHash', 'plain:x'],
  ])('takes no %s that every object inherits', async (name, value) => {
    const { [name]: _, ...rest } = { ...least } as Record<string, unknown>
    const { error } = await polluted({ [name]: value }, () => outcomeOf(() => checkAccount(rest)))
    expect(error).toBeInstanceOf(TypeError)
  })

  it.each(INVALID_ACCOUNTS)('refuses %s', (_, value, says) => {
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
