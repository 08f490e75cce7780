import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { bool, integer, text } from '../../../src/options/checks.js'
import { PAGE } from '../../../src/options/misuse.js'
import {
  describeNumber,
  describe as describeValue,
  InvalidOption,
  named,
  optional,
  readOptions,
} from '../../../src/options/read-options.js'
import { expectMisuse, thrownBy } from '../../support/failures.js'

const rows = { size: optional(integer(1, 9, 'a size'), 3), name: text('a name'), strict: optional(bool, false) }
type Options = { size?: number; name: string; strict?: boolean }
const read = (options: unknown) =>
  readOptions<Options, typeof rows>('jwksRouter', options as Options, rows, { length: 'size', title: 'name' })

describe('the options of a factory', () => {
  it('pass on the error of a check that is not about the value', () => {
    const cause = new Error('down')
    const check = () => {
      throw cause
    }
    expect(thrownBy(() => named('issue: "claims"', check, {}))).toBe(cause)
  })

  it('get the defaults of those that are not passed', () => {
    expect(read({ name: 'x' })).toEqual({ size: 3, name: 'x', strict: false })
    expect(read({ name: 'x', size: 9, strict: true })).toEqual({ size: 9, name: 'x', strict: true })
  })

  it.each([
    ['a wrong type', { name: 7 }, 'jwksRouter: option "name" must be a name, but is a number'],
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
  ])('are refused with %s', (_, options, says) => {
    expectMisuse(() => read(options), says)
  })

  it.each(['SCOPE', 'Scopes', 's-c-o-p-e'])('suggest scope for %s, not a longer name that contains it', (name) => {
    const names = { anyScope: optional(bool), scope: optional(bool) }
    const given: { anyScope?: boolean; scope?: boolean } = { [name]: true }
    const says = `jwksRouter: unknown option "${name}". Did you mean "scope"?`
    expectMisuse(() => readOptions<typeof given, typeof names>('jwksRouter', given, names), says)
  })
})

describe('the error for an invalid option', () => {
  const fail = (hint?: string) => () => {
    throw new InvalidOption('a fruit', hint)
  }

  it('has the name, the kind of the value, the hint and a page', () => {
    const messageOf = (run: () => unknown) => (thrownBy(run) as Error).message
    const hinted = 'x: option "a" must be a fruit, but is a string of 4 characters. Is it ripe?'
    expect(messageOf(() => named('jwksRouter: option "a"', fail(), 7))).toBe(
      `jwksRouter: option "a" must be a fruit, but is a number. See ${PAGE.options}`,
    )
    expect(messageOf(() => named('x: option "a"', fail('Is it ripe?'), 'pear', PAGE.keys))).toBe(
      `${hinted} See ${PAGE.keys}`,
    )
  })
})

describe('an error describes', () => {
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

  it('a number only where a number is expected, because any other may be a secret', () => {
    expect([describeValue(7), describeNumber(7), describeNumber('7')]).toEqual([
      'a number',
      '7',
      'a string of 1 characters',
    ])
  })
})
