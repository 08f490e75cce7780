// Tests factors/{factor-store,memory-factors}.ts, store/store.ts

import { memoryStore, type StoredFactor } from 'express-token-endpoint'
import { storeContract } from 'express-token-endpoint/testing'
import { describe, expect, it } from 'vitest'
import { isFactorStore } from '../../../src/factors/factor-store.js'
import { storeOption } from '../../../src/store/store.js'
import { withMaps } from '../../support/concurrency.js'
import { expectFactorStore } from '../../support/factor-store.js'
import { expectMisuse } from '../../support/failures.js'
import { memoryCodes, memoryFactors, memorySessions } from '../../support/sessions.js'

const factor = (id: string, more: Partial<StoredFactor> = {}): StoredFactor => ({
  id,
  accountId: 'acc-1',
  kind: 'totp',
  expiresAt: null,
  data: '{}',
  ...more,
})

describe('factors in memory', () => {
  it('fulfil the contract', () => expectFactorStore(memoryFactors()))

  it('leave it when they expire, while new ones come, and never without an expiration', () => {
    const store = memoryFactors()
    const ids = ['0', '1', '2', '3']
    for (const id of ids) store.add(factor(id, { expiresAt: id === '0' ? null : new Date(1000) }), 4, new Date(0))
    store.add(factor('new', { accountId: 'acc-2' }), 1, new Date(999))
    expect(store.list('acc-1')).toHaveLength(4)
    store.add(factor('newer', { accountId: 'acc-3' }), 1, new Date(1000))
    store.add(factor('newest', { accountId: 'acc-4' }), 1, new Date(1000))
    expect(ids.filter((id) => store.find(id))).toEqual(['0'])
  })

  it('make room for the id of one that has expired', () => {
    const store = memoryFactors()
    const same = [
      factor('a', { accountId: 'acc-9', expiresAt: new Date(1000) }),
      factor('b', { expiresAt: new Date(1000) }),
    ]
    // More than one sweep checks.
    for (const one of [...['v', 'w', 'x', 'y', 'z'].map((id) => factor(id)), ...same]) store.add(one, 9, new Date(0))
    for (const { id } of same) {
      expect(store.add(factor(id), 9, new Date(999))).toBe(false)
      expect(store.add(factor(id), 9, new Date(1000))).toBe(true)
      expect(store.find(id)).toEqual(factor(id))
    }
    expect(store.list('acc-9')).toEqual([])
  })

  it('leave nothing of an account without factors', () => {
    const { made: store, maps } = withMaps(memoryFactors)
    for (const id of ['a', 'b', 'c']) store.add(factor(id, { kind: id }), 1, new Date())
    expect(maps.map(({ size }) => size)).toEqual([3, 1])
    store.remove('a', 'acc-1')
    store.removeAll('acc-1', ['b', 'c'])
    expect(maps.map(({ size }) => size)).toEqual([0, 0])
  })

  it('do not change with the object that was added', () => {
    const store = memoryFactors()
    const one = factor('a')
    store.add(one, 1, new Date())
    one.data = '[]'
    expect(store.replace('a', '{}', '[1]')).toBe(true)
  })
})

describe('the store of an app', () => {
  it('has factors in memory', () => {
    expect(isFactorStore(memoryStore().factors)).toBe(true)
    expect(isFactorStore({ ...memoryFactors(), replace: undefined })).toBe(false)
  })

  it('may have any of its parts', () => {
    const [sessions, codes, factors] = [memorySessions(), memoryCodes(), memoryFactors()]
    for (const store of [{ sessions }, { codes }, { factors }, { sessions, codes }, { codes, factors }])
      expect({ ...storeOption(store) }).toEqual(store)
    expect({ ...storeOption({ sessions, factors }) }).toEqual({ sessions, factors })
  })

  it.each<[string, object, string]>([
    [
      'factors',
      memoryFactors(),
      'or an object with "sessions", "codes" or "factors", but is an object. Pass { factors }',
    ],
    [
      'sessions, which have the methods of factors too',
      { ...memoryFactors(), ...memorySessions() },
      'Pass { sessions }',
    ],
    ['wrong factors', { factors: memoryCodes() }, 'a store whose "factors" have "add", "find", "list", "replace", '],
    ['wrong factors beside codes', { ...memoryStore(), factors: {} }, 'a store whose "factors" have "add", "find"'],
    ['nothing', {}, 'memoryStore(), or an object { sessions } whose'],
  ])('is not %s', (_, store, message) => {
    expectMisuse(() => storeContract(store), message)
  })
})
