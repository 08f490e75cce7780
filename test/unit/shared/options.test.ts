import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bool,
  clock,
  describe as describeValue,
  duration,
  func,
  InvalidOption,
  integer,
  isPlainObject,
  isScopeList,
  optional,
  readOptions,
  text,
} from '../../../src/shared/options.js'
import { expectMisuse, thrownBy } from '../../support/failures.js'

const rows = { size: optional(integer(1, 9, 'a size'), 3), name: text('a name'), strict: optional(bool, false) }
type Options = { size?: number; name: string; strict?: boolean }
const read = (options: unknown) =>
  readOptions<Options, typeof rows>('make', options as Options, rows, { length: 'size', title: 'name' })

describe('readOptions', () => {
  it('reads by the table, with the fallbacks', () => {
    expect(read({ name: 'x' })).toEqual({ size: 3, name: 'x', strict: false })
    expect(read({ name: 'x', size: 9, strict: true })).toEqual({ size: 9, name: 'x', strict: true })
  })

  it('takes undefined for absent, and leaves the caller’s object as it is', () => {
    const options = Object.freeze({ name: 'x', size: undefined, strict: undefined })
    expect(read(options)).toEqual({ size: 3, name: 'x', strict: false })
  })

  it('reads what a class gives through getters', () => {
    class Config {
      get name() {
        return 'x'
      }
    }
    expect(read(new Config())).toMatchObject({ name: 'x' })
  })

  it.each([
    ['a wrong type', { name: 7 }, 'make: option "name" must be a name, but is 7'],
    ['a missing one', {}, 'make: option "name" must be a name, but is missing'],
    ['nothing at all', undefined, 'make: option "name" must be a name, but is missing'],
    [
      'out of range',
      { name: 'x', size: 10 },
      'make: option "size" must be a size, a whole number from 1 to 9, but is 10',
    ],
    ['null', { name: 'x', size: null }, 'make: option "size" must be a size, a whole number from 1 to 9, but is null'],
    ['no boolean', { name: 'x', strict: 'yes' }, 'make: option "strict" must be true or false, but is a string of 3'],
    ['another word for it', { title: 'x' }, 'make: unknown option "title". Did you mean "name"?'],
    ['other letters', { Name: 'x' }, 'make: unknown option "Name". Did you mean "name"?'],
    ['a plural', { names: 'x' }, 'make: unknown option "names". Did you mean "name"?'],
    ['a hyphen', { 'na-me': 'x' }, 'make: unknown option "na-me". Did you mean "name"?'],
    ['a letter too many', { strrict: true }, 'make: unknown option "strrict". Did you mean "strict"?'],
    ['two letters that changed places', { isze: 1 }, 'make: unknown option "isze". Did you mean "size"?'],
    ['a strange word', { colour: 'x' }, 'make: unknown option "colour". Known options: size, name, strict'],
    ['a strange word that is undefined', { name: 'x', colour: undefined }, 'make: unknown option "colour"'],
    ['an array', [], 'make: expected an options object, got an empty array'],
    ['a string', 'x', 'make: expected an options object, got a string of 1 characters'],
    ['a function', () => {}, 'make: expected an options object, got a function'],
    [
      'a request: Express calls it',
      new IncomingMessage(new Socket()),
      'got a request. Pass Express the return value of make({ … })',
    ],
    ['a Promise', { name: Promise.resolve('x') }, 'but is a Promise (is an "await" missing?)'],
  ])('refuses %s', (_, options, says) => {
    expectMisuse(() => read(options), says)
  })

  it('lets through what a check throws for a reason of its own', () => {
    const broken = { name: () => expect.fail('its own') }
    expect(() => readOptions<{ name: string }, typeof broken>('make', { name: 'x' }, broken)).toThrow('its own')
  })

  it('gives an object or throws a TypeError, whatever it is given', () => {
    const named = fc.dictionary(fc.constantFrom('size', 'name', 'strict', 'title', 'colour'), fc.anything())
    fc.assert(
      fc.property(fc.oneof(named, fc.anything()), (options) => {
        try {
          const { size, name, strict } = read(options)
          expect(size >= 1 && size <= 9 && name.length > 0 && typeof strict === 'boolean').toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          expect((error as Error).message).toMatch(/^make: /)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('duration', () => {
  const check = duration(0, 1e15)

  it.each<[number | string, number]>([
    [0, 0],
    [1, 1000],
    [90, 90_000],
    [0.5, 500],
    ['250ms', 250],
    ['250 milliseconds', 250],
    ['90s', 90_000],
    ['90 s', 90_000],
    ['1.5h', 5_400_000],
    ['15m', 900_000],
    ['15 minutes', 900_000],
    ['1 hour', 3_600_000],
    ['1H', 3_600_000],
    ['30 days', 2_592_000_000],
    ['2w', 1_209_600_000],
    ['0s', 0],
  ])('reads %j', (value, ms) => {
    expect(check(value)).toBe(ms)
  })

  it.each([
    '',
    ' ',
    '90',
    '1e3s',
    '-1h',
    '+1h',
    ' 1h',
    '1h ',
    '1  h',
    '1h30m',
    'h',
    '.5h',
    '1.h',
    '1,5h',
    '1 fortnight',
    '1 month',
    'PT1H',
    '1h\n',
    '٣h',
    `${'1'.repeat(120)}s`,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    null,
    undefined,
    true,
    {},
    ['1h'],
    3600n,
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
    [3_600_000, "A number means seconds, at most a day. Did you pass milliseconds? For longer times write '7 days'"],
    ['1 fortnight', ''],
    [61, ''],
  ])('says what the mistake behind %j is', (value, hint) => {
    expect((thrownBy(() => duration(0, 60_000)(value)) as InvalidOption).hint).toBe(hint)
  })

  it('gives a number in its bounds or says what it expected, whatever it is given', () => {
    const value = fc.oneof(fc.anything(), fc.stringMatching(/^\d{1,20}(\.\d{1,3})? ?[a-z]{0,7}$/))
    fc.assert(
      fc.property(value, (given) => {
        try {
          const ms = duration(1, 60_000)(given)
          expect(ms >= 1 && ms <= 60_000).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidOption)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('clock', () => {
  it('gives milliseconds of a number or a Date', () => {
    expect(clock(() => 1234.5)()).toBe(1234.5)
    expect(clock(() => new Date(1234))()).toBe(1234)
    expect(clock(() => runInNewContext('new Date(1234)'))()).toBe(1234)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, undefined, 'now', {}, new Date(Number.NaN)])(
    'throws for %j',
    (now) => {
      expectMisuse(
        clock(() => now),
        'option "clock" must return a Date or milliseconds',
      )
    },
  )

  it.each([0, null, 'now', new Date(0)])('is a function, not %j', (value) => {
    expect(() => clock(value)).toThrow(InvalidOption)
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
  it.each(['a', ' ', '\n', '0'])('takes %j', (value) => expect(text('a text')(value)).toBe(value))
  it.each(['', null, 7, ['a'], Object('a')])('refuses %j', (value) =>
    expect(() => text('a text')(value)).toThrow('a text'),
  )
  it('holds to a grammar', () => expect(() => text('digits', /^\d+$/)('1a')).toThrow('digits'))
})

it('func takes functions alone', () => {
  expect(func('a function')(expect.fail)).toBe(expect.fail)
  expect(() => func('a function')({})).toThrow('a function')
})

it.each([
  [['a', 'a:b', '!#[]~', '0'], true],
  [[], true],
  [[''], false],
  [['a b'], false],
  [['a', 'b"'], false],
  [['a\\b'], false],
  [['a\n'], false],
  [['\u007f'], false],
  [['é'], false],
  [[7], false],
  ['a', false],
  [null, false],
  [new Set(['a']), false],
])('isScopeList %j: %s', (value, expected) => {
  expect(isScopeList(value)).toBe(expected)
})

it.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  [() => {}, false],
  ['x', false],
  [undefined, false],
])('isPlainObject %j: %s', (value, expected) => {
  expect(isPlainObject(value)).toBe(expected)
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

  it('shows nothing of a text or an object', () => {
    const letter = fc.string({ unit: fc.constantFrom(...'qxzQXZ@#'), minLength: 3 })
    fc.assert(
      fc.property(letter, (secret) => ![secret, [secret], { secret }].some((v) => describeValue(v).includes(secret))),
    )
  })
})
