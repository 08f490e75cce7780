import { runInNewContext } from 'node:vm'
import type { Account } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { readAccount, storeOf } from '../../../src/accounts/account.js'
import { expectMisuse } from '../../support/failures.js'
import { makeStore } from '../../support/fixtures.js'
import { INVALID_ACCOUNTS } from '../../support/invalid-results.js'
import { outcomeOf, polluted } from '../../support/pollution.js'

const least: Account = { id: 'acc-1', passwordHash: 'plain:x' }
const all = {
  id: 'acc-1',
  passwordHash: 'plain:x',
  disabled: true,
  scopes: ['a'],
  claims: { a: 1 },
  tokensValidAfter: new Date(7),
  lifetime: '10m',
}

describe('readAccount', () => {
  it.each([undefined, null])('takes %s for no account', (value) => {
    expect(readAccount(value)).toBeUndefined()
  })

  const nulls = { disabled: null, scopes: null, claims: null, tokensValidAfter: null, lifetime: null }
  it.each<[string, object, object?]>([
    ['the least', least],
    ['without a password', { ...least, passwordHash: null }],
    ['all members', all],
    ['all the optional null, as SQL has it', { ...least, ...nulls }, least],
    ['all the optional undefined', { ...least, disabled: undefined, scopes: undefined, claims: undefined }, least],
    ['nothing in them', { ...least, scopes: [], claims: {} }],
    ['members of the host’s', { ...least, name: 'Alice' }, least],
    ['a row without a prototype', Object.assign(Object.create(null), least)],
  ])('copies the members of an account: %s', (_, value, expected = value) => {
    const { account, original } = readAccount(value) ?? {}
    expect(original).toBe(value)
    expect(account).not.toBe(value)
    expect(Object.entries(account ?? {})).toEqual(Object.entries(expected))
    expect(Object.getPrototypeOf(account)).toBeNull()
  })

  it('reads each member once, also by the getters of a class: what is checked is what is used', () => {
    const reads: string[] = []
    const row = Object.create({})
    for (const [name, value] of Object.entries(all)) {
      Object.defineProperty(Object.getPrototypeOf(row), name, {
        get: () => (reads.push(name) > 0 && reads.filter((read) => read === name).length === 1 ? value : 7),
      })
    }
    expect(readAccount(row)?.account).toEqual(all)
    expect(reads.sort()).toEqual(Object.keys(all).sort())
  })

  it('copies the scopes, so that a later change does not count', () => {
    const scopes = ['a']
    const found = readAccount({ ...least, scopes })
    scopes.push('admin')
    expect(found?.account.scopes).toEqual(['a'])
  })

  it('takes a Date of another realm', () => {
    const tokensValidAfter: unknown = runInNewContext('new Date(7)')
    expect(readAccount({ ...least, tokensValidAfter })?.account.tokensValidAfter?.getTime()).toBe(7)
  })

  it.each(Object.entries(all))('takes no %s that every object inherits', async (name, value) => {
    const { [name]: _, ...rest } = { ...least } as Record<string, unknown>
    const { value: read, error } = await polluted({ [name]: value }, () =>
      outcomeOf(() => {
        const account = readAccount(rest)?.account as unknown as Record<string, unknown>
        return [account[name], name in account]
      }),
    )
    if (name in least) expect(error).toBeInstanceOf(TypeError)
    else expect(read).toEqual([undefined, false])
  })

  it.each(INVALID_ACCOUNTS)('refuses %s', (_, value, says) => {
    expectMisuse(() => readAccount(value), says, ['plain:x', '2026-03-01'])
  })
})

it('storeOf makes a store of a look-up, and leaves a store as it is', () => {
  const lookup = () => least
  expect(storeOf(lookup)).toEqual({ findByEmail: lookup })
  const store = makeStore()
  expect(storeOf(store)).toBe(store)
})
