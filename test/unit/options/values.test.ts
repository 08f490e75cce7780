import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  bare,
  ignoreRejection,
  isPlainObject,
  isThenable,
  isValidDate,
  memberOf,
  own,
} from '../../../src/options/values.js'
import * as turns from '../../support/concurrency.js'
import { fatalErrors } from '../../support/failures.js'

/** Pollutes Object.prototype until the end of the test. */
function pollute(members: object): void {
  Object.assign(Object.prototype, members)
  onTestFinished(() => {
    for (const name of Object.keys(members)) Reflect.deleteProperty(Object.prototype, name)
  })
}

it.each<[string, unknown, boolean]>([
  ['a promise', Promise.resolve(), true],
  // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
  ['a query builder', { then() {} }, true],
  // biome-ignore lint/suspicious/noThenProperty: not a method
  ['an object whose then is no function', { then: true }, false],
  ['a plain object', {}, false],
  ['null', null, false],
  ['undefined', undefined, false],
])('a value has a then method: %s', (_, value, expected) => {
  expect(isThenable(value)).toBe(expected)
})

it('a promise of a function that must return none ends no process when it rejects', async () => {
  const unhandled = fatalErrors()
  const promise = Promise.reject(new Error('late'))
  expect(ignoreRejection(promise)).toBe(promise)
  expect(ignoreRejection('text')).toBe('text')
  await turns.settled()
  expect(unhandled).toEqual([])
})

it.each<[string, unknown, boolean]>([
  ['a Date', new Date(0), true],
  ['a Date from another realm', runInNewContext('new Date(0)'), true],
  ['a Date without a time', new Date(Number.NaN), false],
  ['an object like a Date', { getTime: () => 0 }, false],
])('a value is a valid Date: %s', (_, value, expected) => {
  expect(isValidDate(value)).toBe(expected)
})

it('an inherited member is not an own member', () => {
  pollute({ role: 'admin' })
  const read = (object: { role?: string }) => own(object, 'role')
  expect([{ role: 'user' }, {}, Object.create({ role: 'heir' })].map(read)).toEqual(['user', undefined, undefined])
})

describe('a member of an object of the host', () => {
  class Account {
    get role() {
      return 'user'
    }
  }

  it('reads what the object or its class has', () => {
    expect(memberOf({ role: 'user' }, 'role')).toBe('user')
    expect(memberOf(new Account(), 'role')).toBe('user')
    expect(memberOf(new Proxy({}, { get: () => 'user' }), 'role')).toBe('user')
    expect(memberOf({}, 'role')).toBeUndefined()
  })

  it('reads nothing from Object.prototype, polluted or not', () => {
    pollute({ role: 'admin' })
    class Other {}
    for (const name of ['role', 'constructor', 'toString']) {
      expect(memberOf({}, name)).toBeUndefined()
      expect(memberOf(Object.create(null), name)).toBeUndefined()
      expect(memberOf(Object.create(Object.create(null)), name)).toBeUndefined()
    }
    expect(memberOf(new Other(), 'role')).toBeUndefined()
  })

  it('reads what hides a member of Object.prototype', () => {
    pollute({ role: 'admin' })
    expect(memberOf({ role: 'user' }, 'role')).toBe('user')
    expect(memberOf(new Account(), 'role')).toBe('user')
    expect(memberOf(Object.create(new Account()), 'role')).toBe('user')
    expect(memberOf({ toString: 1 }, 'toString')).toBe(1)
  })
})

it('a bare copy has the members, and inherits none', () => {
  pollute({ role: 'admin' })
  const given = { name: 'a' }
  const copy: { name: string; role?: string } = bare(given)
  expect([copy.name, copy.role, Object.getPrototypeOf(copy)]).toEqual(['a', undefined, null])
  expect(copy).not.toBe(given)
})

it('only records are plain objects', () => {
  expect([{}, Object.create(null)].map(isPlainObject)).toEqual([true, true])
  expect([[], null, () => {}, 'x', undefined].filter(isPlainObject)).toEqual([])
})
