import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  bool,
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
import { misuse, PAGE } from '../../../src/options/misuse.js'
import {
  describeSecret,
  describe as describeValue,
  InvalidOption,
  named,
  optional,
  readOptions,
} from '../../../src/options/read-options.js'
import { isPlainObject } from '../../../src/options/values.js'
import { expectMisuse, thrownBy } from '../../support/failures.js'

const rows = { size: optional(integer(1, 9, 'a size'), 3), name: text('a name'), strict: optional(bool, false) }
type Options = { size?: number; name: string; strict?: boolean }
const read = (options: unknown) =>
  readOptions<Options, typeof rows>('jwksRouter', options as Options, rows, { length: 'size', title: 'name' })

describe('readOptions', () => {
  it('reads by the table, with the fallbacks', () => {
    expect(read({ name: 'x' })).toEqual({ size: 3, name: 'x', strict: false })
    expect(read({ name: 'x', size: 9, strict: true })).toEqual({ size: 9, name: 'x', strict: true })
  })

  it.each([
    ['a wrong type', { name: 7 }, 'jwksRouter: option "name" must be a name, but is 7'],
    ['a missing one', {}, 'jwksRouter: option "name" must be a name, but is missing'],
    ['out of range', { name: 'x', size: 10 }, '"size" must be a size, a whole number from 1 to 9, but is 10'],
    ['null', { name: 'x', size: null }, '"size" must be a size, a whole number from 1 to 9, but is null'],
    [
      'no boolean',
      { name: 'x', strict: 'yes' },
      'jwksRouter: option "strict" must be true or false, but is a string of 3',
    ],
    ['another word for it', { title: 'x' }, 'jwksRouter: unknown option "title". Did you mean "name"?'],
    ['a plural', { names: 'x' }, 'jwksRouter: unknown option "names". Did you mean "name"?'],
    ['a letter too many', { strrict: true }, 'jwksRouter: unknown option "strrict". Did you mean "strict"?'],
    ['a strange word', { colour: 'x' }, 'jwksRouter: unknown option "colour". Known options: size, name, strict'],
    ['an array', [], 'jwksRouter: expected an options object, got an empty array'],
    ['a string', 'x', 'jwksRouter: expected an options object, got a string of 1 characters'],
    ['a function', () => {}, 'jwksRouter: expected an options object, got a function'],
    ['a request of Express', new IncomingMessage(new Socket()), 'got a request. Pass Express the return value of'],
    ['letters of a known word', { ssssize: 1 }, /unknown option "ssssize"\. Known options: size, name, strict$/],
    ['a Promise', { name: Promise.resolve('x') }, 'but is a Promise (is an "await" missing?)'],
  ])('refuses %s', (_, options, says) => {
    expectMisuse(() => read(options), says)
  })

  it.each(['SCOPE', 'Scopes', 's-c-o-p-e'])('means scope by %s, not a longer name that contains it', (name) => {
    const names = { anyScope: optional(bool), scope: optional(bool) }
    const given: { anyScope?: boolean; scope?: boolean } = { [name]: true }
    const says = `jwksRouter: unknown option "${name}". Did you mean "scope"?`
    expectMisuse(() => readOptions<typeof given, typeof names>('jwksRouter', given, names), says)
  })
})

describe('named', () => {
  const fail = (hint?: string) => () => {
    throw new InvalidOption('a fruit', hint)
  }

  it('adds the name, the kind of the value, the hint and a page', () => {
    const messageOf = (run: () => unknown) => (thrownBy(run) as Error).message
    const hinted = 'x: option "a" must be a fruit, but is a string of 4 characters. Is it ripe?'
    expect(messageOf(() => named('jwksRouter: option "a"', fail(), 7))).toBe(
      `jwksRouter: option "a" must be a fruit, but is 7. See ${PAGE.options}`,
    )
    expect(messageOf(() => named('x: option "a"', fail('Is it ripe?'), 'pear', PAGE.keys))).toBe(
      `${hinted} See ${PAGE.keys}`,
    )
  })

  it('tells of a value as the caller wishes', () => {
    expectMisuse(() => named('x: option "a"', fail(), 7, PAGE.keys, describeSecret), /but is a number$/)
  })
})

describe('withMethods', () => {
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

describe('scopeList', () => {
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

  it('is a frozen copy', () => {
    const given = ['a']
    const scopes = scopeList(given)
    given.push('b')
    expect(scopes).toEqual(['a'])
    expect(Object.isFrozen(scopes)).toBe(true)
  })
})

describe('duration', () => {
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

  it('holds both bounds', () => {
    const bounded = duration(1000, 60_000)
    expect([1, '1s', 60, '1m'].map(bounded)).toEqual([1000, 1000, 60_000, 60_000])
    for (const value of [0.999, '999ms', 60.001, '61s'])
      expect(() => bounded(value)).toThrow(/from 1 second to 1 minute/)
  })

  it.each([
    ['3600', 'A string needs a unit. Did you mean a number?'],
    [1000, "A number means seconds, at most a day. Did you pass milliseconds? For longer times write '7 days'"],
    ['1 fortnight', ''],
    ['t90', ''],
    [[3_600_000], ''],
    [61, ''],
  ])('says what the mistake behind %j is', (value, hint) => {
    expect((thrownBy(() => duration(0, 60_000)(value)) as InvalidOption).hint).toBe(hint)
  })
})

describe('clock', () => {
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

describe('integer', () => {
  it('takes whole numbers between its bounds, both included', () => {
    expect([1, 5, 9].map(integer(1, 9, 'n'))).toEqual([1, 5, 9])
  })

  it.each([0, 10, 1.5, '5', Number.NaN, null, 5n, true, [5]])('refuses %s', (value) => {
    expect(() => integer(1, 9, 'n')(value)).toThrow('n, a whole number from 1 to 9')
  })
})

describe('text', () => {
  it.each(['', null, 7, ['a'], Object('a')])('refuses %j', (value) =>
    expect(() => text('a text')(value)).toThrow('a text'),
  )
  it('holds to a grammar', () => expect(() => text('digits', /^\d+$/)('1a')).toThrow('digits'))
})

it('func takes functions alone', () => {
  expect(func('a function')(expect.fail)).toBe(expect.fail)
  expect(() => func('a function')({})).toThrow('a function')
})

it.each([['a', 'a:b', '!#[]~', '0'], []])('isScopeList: true for %j', (...scopes) => {
  expect(isScopeList(scopes)).toBe(true)
})

it.each<unknown>([
  ...[[''], ['a b'], ['a', 'b"'], ['a\\b'], ['a\n'], ['\u007f'], ['é'], [7]].map((scopes) => [scopes]),
  ...['a', null, new Set(['a'])],
])('isScopeList: false for %j', (value) => {
  expect(isScopeList(value)).toBe(false)
})

it('isPlainObject: true for records alone', () => {
  expect([{}, Object.create(null)].map(isPlainObject)).toEqual([true, true])
  expect([[], null, () => {}, 'x', undefined].filter(isPlainObject)).toEqual([])
})

describe('describe', () => {
  it.each([
    [undefined, 'missing'],
    [null, 'null'],
    ['', 'an empty string'],
    ['hunter2', 'a string of 7 characters'],
    [true, 'true'],
    [[1], 'an array'],
    [{ a: 1 }, 'an object'],
    [() => {}, 'a function'],
    [Symbol('hunter2'), 'a symbol'],
    [7n, 'a bigint'],
    [Promise.resolve(), 'a Promise (is an "await" missing?)'],
    [runInNewContext('Promise.resolve()'), 'a Promise (is an "await" missing?)'],
  ])('%o', (value, expected) => {
    expect(describeValue(value)).toBe(expected)
  })

  it.each([
    [7, 'a number'],
    [Number.NaN, 'a number'],
    ['7', 'a string of 1 characters'],
    [undefined, 'missing'],
  ])('of what should be a secret, shows no digits: %j', (value, expected) => {
    expect(describeSecret(value)).toBe(expected)
  })
})

it.each([
  ['Pass a list', 'Pass a list.'],
  ['Pass a list.', 'Pass a list.'],
  ['Is a list missing?', 'Is a list missing?'],
  ['Pass 1.5 or "a?"', 'Pass 1.5 or "a?".'],
])('the error for a mistake is a TypeError that names a page after one full stop: %s', (message, ended) => {
  const error = misuse(message, PAGE.options)
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toBe(`${ended} See express-token-endpoint/docs/reference/options.md`)
  expect(misuse(`jwksRouter: ${message}`).message).toMatch(/See express-token-endpoint\/docs\/reference\/options\.md$/)
  expect(misuse(`authErrors: ${message}`).message).toMatch(/See express-token-endpoint\/docs\/reference\/login\.md$/)
  expect(misuse(message, PAGE.keys).message).toBe(`${ended} See express-token-endpoint/docs/guides/keys.md`)
})
