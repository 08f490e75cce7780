import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  clock,
  clockOption,
  duration,
  func,
  integer,
  isScopeList,
  scopeList,
  text,
  withMethods,
} from '../../../src/options/checks.js'
import { InvalidOption } from '../../../src/options/read-options.js'
import { expectMisuse, thrownBy } from '../../support/failures.js'

describe('an option with methods', () => {
  const what = 'a store'
  const check = withMethods(what, ['load', 'save'])
  const load = () => {}
  const save = () => {}

  it('takes an object that has all the methods, or inherits them from its class', () => {
    class Store {
      load() {}
      save() {}
    }
    for (const store of [{ load, save }, { load, save, more: 1 }, new Store()]) expect(check(store)).toBe(store)
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['a function', Object.assign(() => {}, { load, save })],
    ['an object without one of them', { load }],
    ['an object without the other', { save }],
    ['an object with a member that cannot be called', { load, save: true }],
  ])('refuses %s', (_, value) => {
    expect(thrownBy(() => check(value))).toEqual(new InvalidOption(what))
    const hinting = withMethods(what, ['load', 'save'], (given) => `hint ${given === value}`)
    expect(thrownBy(() => hinting(value))).toMatchObject({ hint: 'hint true' })
  })
})

describe('a list of scopes', () => {
  it.each<[string | string[], string[]]>([
    ['a', ['a']],
    ['a b:c', ['a', 'b:c']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  ])('reads %j', (value, scopes) => expect(scopeList(value)).toEqual(scopes))

  it.each(['', ' ', 'a  b', ' a', 'a ', [], ['a b'], [''], null, undefined, 7, {}])('refuses %j', (value) => {
    expect(() => scopeList(value)).toThrow("scope tokens, like 'reports:read' or ['reports:read', 'reports:write']")
  })

  it.each(['a,b', 'a, b', ','])('refuses commas between scopes: %j', (value) => {
    const hint = "Separate scopes with spaces, or pass a list like ['reports:read', 'reports:write']"
    expect(thrownBy(() => scopeList(value))).toMatchObject({ message: 'scopes separated by spaces', hint })
  })

  it('is a frozen copy', () => {
    const given = ['a']
    const scopes = scopeList(given)
    given.push('b')
    expect(scopes).toEqual(['a'])
    expect(Object.isFrozen(scopes)).toBe(true)
  })
})

describe('a duration', () => {
  const check = duration(0, 1e15)

  it.each<[number | string, number]>([
    [0, 0],
    [0.5, 500],
    [86_400, 86_400_000],
    ['0s', 0],
    ['250ms', 250],
    ['90 s', 90_000],
    ['1.5h', 5_400_000],
    ['1.25h', 4_500_000],
    ['30 days', 2_592_000_000],
  ])('reads %j', (value, ms) => {
    expect(check(value)).toBe(ms)
  })

  it.each([
    ...['', ' ', '90', '1e3s', '-1h', '+1h', ' 1h', '1h ', '1  h', '1h30m', 'h', '.5h', '1.h', '1,5h', '1 fortnight'],
    ...['1 month', 'PT1H', '1h\n', '٣h', `${'1'.repeat(120)}s`, Number.NaN, Number.POSITIVE_INFINITY, -1, 86_401],
    ...[null, undefined, true, {}, ['1h'], 3600n],
  ])('refuses %o', (value) => {
    expect(thrownBy(() => check(value))).toBeInstanceOf(InvalidOption)
  })

  it('accepts both bounds', () => {
    const bounded = duration(1000, 60_000)
    expect([1, '1s', 60, '1m'].map(bounded)).toEqual([1000, 1000, 60_000, 60_000])
    for (const value of [0.999, '999ms', 60.001, '61s'])
      expect(() => bounded(value)).toThrow(/from 1 second to 1 minute/)
  })

  it.each([
    ['3600', 'A string needs a unit. Did you mean a number?'],
    [
      1000,
      "Numbers are seconds, up to one day. Did you pass milliseconds? For longer times, pass a string like '7 days'",
    ],
    ['1 fortnight', ''],
    ['t90', ''],
    [[3_600_000], ''],
    [61, ''],
  ])('says what the mistake behind %j is', (value, hint) => {
    expect((thrownBy(() => duration(0, 60_000)(value)) as InvalidOption).hint).toBe(hint)
  })
})

describe('a clock', () => {
  it('gives milliseconds of a number or a Date', () => {
    expect(clock(() => 1234.5)()).toBe(1234.5)
    expect(clock(() => new Date(1234))()).toBe(1234)
    expect(clock(() => runInNewContext('new Date(1234)'))()).toBe(1234)
  })

  it.each([0, 8.64e15])('takes the first and the last moment of a Date: %i', (now) => {
    expect(clock(() => now)()).toBe(now)
    expect(clock(() => new Date(now))()).toBe(now)
  })

  it('reads the time of the process by default, also when a test replaces Date later', () => {
    const now = clockOption(undefined)
    vi.useFakeTimers({ now: 1234 })
    onTestFinished(() => void vi.useRealTimers())
    expect([now(), clockOption(() => 5)()]).toEqual([1234, 5])
  })

  it.each([
    ...[Number.NaN, Number.POSITIVE_INFINITY, -1, 8.64e15 + 1, undefined, true, '1234', 'now', {}],
    new Date(Number.NaN),
  ])('throws for %j', (now) => {
    expectMisuse(() => clock(() => now)(), 'option "clock" must return a Date or milliseconds')
  })

  it.each([0, null, 'now', new Date(0)])('is a function, not %j', (value) => {
    const error = thrownBy(() => clock(value))
    expect(error).toBeInstanceOf(InvalidOption)
    expect(error).toMatchObject({ message: 'a function that returns a Date or milliseconds' })
  })
})

describe('a whole number', () => {
  it('takes whole numbers between its bounds, both included', () => {
    expect([1, 5, 9].map(integer(1, 9, 'n'))).toEqual([1, 5, 9])
  })

  it.each([0, 10, 1.5, '5', Number.NaN, null, 5n, true, [5]])('refuses %s', (value) => {
    expect(() => integer(1, 9, 'n')(value)).toThrow('n, a whole number from 1 to 9')
  })
})

describe('a text', () => {
  it.each(['', null, 7, ['a'], Object('a')])('refuses %j', (value) =>
    expect(() => text('a text')(value)).toThrow('a text'),
  )
  it('holds to a grammar', () => expect(() => text('digits', /^\d+$/)('1a')).toThrow('digits'))
})

it('a function is accepted, and an object is refused', () => {
  expect(func('a function')(expect.fail)).toBe(expect.fail)
  expect(() => func('a function')({})).toThrow('a function')
})

it.each([['a', 'a:b', '!#[]~', '0'], []])('%j is a list of scopes', (...scopes) => {
  expect(isScopeList(scopes)).toBe(true)
})

it.each<unknown>([
  ...[[''], ['a b'], ['a', 'b"'], ['a\\b'], ['a\n'], ['\u007f'], ['é'], [7]].map((scopes) => [scopes]),
  ...['a', null, new Set(['a'])],
])('%j is not a list of scopes', (value) => {
  expect(isScopeList(value)).toBe(false)
})
