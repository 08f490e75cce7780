import { runInNewContext } from 'node:vm'
import { type Account, memoryAccounts } from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { readAccount } from '../../../src/accounts/account.js'
import { expectMisuse, thrownBy } from '../../support/failures.js'
import { ACCOUNTS, makeStore } from '../../support/fixtures.js'
import { outcomeOf, polluted } from '../../support/pollution.js'
import { INVALID_ACCOUNTS } from '../../support/values/invalid-results.js'

const { alice, bob } = ACCOUNTS
const least: Account = { id: 'acc-1', passwordHash: 'plain:x' }
const optional = { disabled: true, scopes: ['a'], claims: { a: 1 }, tokensValidAfter: new Date(7), lifetime: '10m' }
const all = { ...least, ...optional }

describe('an account from the store', () => {
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

  it('tells what it got, and to convert an id that is a number', () => {
    expectMisuse(() => readAccount([]), /null or undefined, but is an empty array\.?$/)
    expectMisuse(
      () => readAccount({ id: 7 }),
      /"id" must be a non-empty string, but is a number\. Return String\(id\)\.?$/,
    )
  })

  const NO_HASH = '"passwordHash" must be a string, or null for an account without a password, but is'
  const bcrypt = '$2b$10$abcdefghijklmnopqrstuu'
  it.each<[object, string]>([
    [{ passwordHash: 7 }, `${NO_HASH} a number`],
    [{ passwordHash: undefined, password: bcrypt }, `${NO_HASH} missing. Return "password" as "passwordHash"`],
    [{ disabled: 0 }, '"disabled" must be a boolean, but is a number. Return Boolean(disabled)'],
    [{ disabled: 'no' }, '"disabled" must be a boolean, but is a string of 2 characters'],
    [
      { scopes: 'a b' },
      '"scopes" must be an array of scope tokens, but is a string of 3 characters. Split the text, for example with .split(\' \')',
    ],
    [{ scopes: 7 }, '"scopes" must be an array of scope tokens, but is a number'],
  ])('tells what it got, and how to convert it: %j', (change, says) => {
    const { message } = thrownBy(() => readAccount({ ...least, ...change })) as Error
    expect(message.split(/\.? See |\.$/)[0]).toBe(`account: ${says}`)
  })
})

describe('memoryAccounts', () => {
  it('takes any iterable, and finds by e-mail and by id', async () => {
    const store = memoryAccounts(new Set([alice]))
    expect([await store.findByEmail(alice.email), await store.findById(alice.id)]).toEqual([alice, alice])
  })

  it.each(['nobody@example.com', '', 'ALICE@example.com', 'alice@example.com ', '__proto__'])(
    'finds nobody by %j',
    async (text) => {
      expect(await makeStore().findByEmail(text)).toBeUndefined()
      expect(await makeStore().findById(text)).toBeUndefined()
    },
  )

  it.each<[unknown, string | RegExp]>([
    [{ ...bob, id: alice.id }, 'memoryAccounts: two accounts share'],
    [{ ...bob, email: alice.email }, 'memoryAccounts: two accounts share'],
    [{ ...bob, id: '' }, /^account: "id" must be a non-empty string, but is an empty string\.?$/],
    [{ ...bob, id: 7 }, 'account: "id" must be a non-empty string, but is a number. Return String(id)'],
    [null, 'memoryAccounts: each account needs an "email"'],
    [{ ...bob, email: 7 }, 'memoryAccounts: each account needs an "email"'],
  ])('refuses %j', (account, says) => {
    expectMisuse(() => memoryAccounts([alice, account as never]), says)
  })
})

describe('replacePasswordHash', () => {
  it('replaces the hash for both look-ups, and changes no account that was given or handed out', async () => {
    const given = { ...alice }
    const store = memoryAccounts([given, bob])
    const handedOut = await store.findById(alice.id)
    expect(await store.replacePasswordHash(alice.id, alice.passwordHash, 'new:x')).toBe(true)
    const replaced = { ...alice, passwordHash: 'new:x' }
    expect([await store.findById(alice.id), await store.findByEmail(alice.email)]).toEqual([replaced, replaced])
    expect([given, handedOut, await store.findById(bob.id)]).toEqual([alice, alice, bob])
  })

  it.each([
    ['another hash', alice.id, 'plain:other'],
    ['another account', 'acc-9', alice.passwordHash],
  ])('replaces nothing for %s', async (_, id, from) => {
    const store = makeStore()
    expect(await store.replacePasswordHash(id, from, 'new:x')).toBe(false)
    for (const account of Object.values(ACCOUNTS)) expect(await store.findById(account.id)).toEqual(account)
  })
})
