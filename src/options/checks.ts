import ms from 'ms'
import { misuse, PAGE } from './misuse.js'
import { type Check, checkThat, describeNumber, InvalidOption, optional } from './read-options.js'
import { isPlainObject, isValidDate, memberOf } from './values.js'

/** A length of time: a number of seconds (at most 86,400), or a string with a unit like `'90s'`, `'15m'`, `'1h'`, `'30 days'`. */
export type Duration = number | string

/** The current time: a `Date`, or milliseconds since the epoch, as `Date.now` gives them. */
export type Clock = () => Date | number

/** A `token` (RFC 9110 section 5.6.2): the name of a header or of an authentication scheme. */
export const HTTP_TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/

export const bool = checkThat<boolean>('true or false', (value) => typeof value === 'boolean')

/** Creates a check for functions. The compiler checks their signature. */
export const func = <F extends (...args: never[]) => unknown>(what: string) =>
  checkThat<F>(what, (value) => typeof value === 'function')

/** Creates a check for objects with certain methods. The compiler checks the signatures of the methods. */
export function withMethods<T>(
  what: string,
  methods: readonly (keyof T & string)[],
  hint?: (value: unknown) => string,
): Check<T> {
  return checkThat(what, (value) => hasMethods(value, methods), hint)
}

export const hasMethods = (value: unknown, methods: readonly string[]): value is object =>
  isPlainObject(value) && methods.every((method) => typeof memberOf(value, method) === 'function')

export const text = (what: string, grammar = /./s) =>
  checkThat<string>(what, (value) => typeof value === 'string' && grammar.test(value))

export const integer = (min: number, max: number, what: string) =>
  checkThat<number>(
    `${what}, a whole number from ${min} to ${max}`,
    (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    undefined,
    describeNumber,
  )

/** The largest number of seconds. Larger numbers are probably meant as milliseconds. */
const LONGEST_NUMBER = 86_400

/** Creates a check for a {@link Duration} between two bounds. Returns milliseconds. */
export function duration(minMs: number, maxMs: number): Check<number> {
  return (value) => {
    const read = durationInMs(value)
    if (!(read >= minMs && read <= maxMs)) {
      const range = `from ${ms(minMs, { long: true })} to ${ms(maxMs, { long: true })}`
      const what = `a number of seconds or a string like '15m', '1h' or '30 days', ${range}`
      throw new InvalidOption(what, hintOn(value), describeNumber)
    }
    return read
  }
}

/** The longest lifetime of a token, in milliseconds. */
export const LONGEST_AGE = 366 * 86_400_000

/** Checks the lifetime of a token, or a part of it. */
export const tokenAge = duration(1000, LONGEST_AGE)

function durationInMs(value: unknown): number {
  if (typeof value === 'number') return value <= LONGEST_NUMBER ? value * 1000 : Number.NaN
  // ms() reads text without a unit as milliseconds, but numbers are seconds here. So '3600' is ambiguous, and rejected.
  if (typeof value !== 'string' || !/^\d+(\.\d+)? ?[a-z]+$/i.test(value)) return Number.NaN
  return ms(value as ms.StringValue) ?? Number.NaN
}

function hintOn(value: unknown): string {
  if (typeof value === 'string' && /^\d+$/.test(value)) return 'A string needs a unit. Did you mean a number?'
  const long = typeof value === 'number' && value >= 1000
  return long
    ? "Numbers are seconds, up to one day. Did you pass milliseconds? For longer times, pass a string like '7 days'"
    : ''
}

const clockFunction = func<Clock>('a function that returns a Date or milliseconds')

/** Reads a clock as milliseconds. An invalid time throws, because a comparison with NaN would let expired tokens pass. */
export function clock(value: unknown): () => number {
  const read = clockFunction(value)
  return () => {
    const now: unknown = read()
    const ms = isValidDate(now) ? now.getTime() : now
    if (typeof ms !== 'number' || !(ms >= 0 && ms <= LAST_MOMENT)) {
      throw misuse('option "clock" must return a Date or milliseconds since the epoch', PAGE.options)
    }
    return ms
  }
}

/** The `clock` option. Looks up `Date` at each call, because fake timers of test runners replace it. */
export const clockOption = optional(clock, () => Date.now())

/** The latest time that a `Date` can hold, in milliseconds. */
export const LAST_MOMENT = 8.64e15

/** Scope tokens (RFC 6749 section 3.3): `scope-token = 1*( %x21 / %x23-5B / %x5D-7E )`. */
export const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export function isScopeList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && [...value].every((scope) => typeof scope === 'string' && SCOPE_TOKEN.test(scope))
}

/** Returns whether a value is a list of texts, like the claim `amr` (RFC 8176). */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && [...value].every((one) => typeof one === 'string' && one !== '')
}

/** Checks a list of required scopes: an array, or a string with spaces between the scopes. */
export const scopeList: Check<readonly string[]> = (value) => {
  if (typeof value === 'string' && value.includes(',')) {
    throw new InvalidOption(
      'scopes separated by spaces',
      "Separate scopes with spaces, or pass a list like ['reports:read', 'reports:write']",
    )
  }
  const list: unknown = typeof value === 'string' ? value.split(' ') : value
  if (!isScopeList(list) || list.length === 0) {
    throw new InvalidOption(
      "scope tokens, like 'reports:read' or ['reports:read', 'reports:write'] (RFC 6749 section 3.3)",
    )
  }
  return Object.freeze([...list])
}
