import ms from 'ms'
import { misuse, type Page } from './misuse.js'
import { suggest } from './suggest.js'
import { isThenable, isValidDate, memberOf } from './values.js'

/** A length of time: a number of seconds (at most 86,400), or a string with a unit like `'90s'`, `'15m'`, `'1h'`, `'30 days'`. */
export type Duration = number | string

/** The current time: a `Date`, or milliseconds since the epoch, as `Date.now` gives them. */
export type Clock = () => Date | number

/** Reads one option. Treats `undefined` as absent. Throws {@link InvalidOption} for an invalid value. */
export type Check<T> = (value: unknown) => T

/** The error for an invalid option: the expected value and the likely mistake. Never holds the value itself. */
export class InvalidOption extends Error {
  readonly hint: string
  constructor(what: string, hint = '') {
    super(what)
    this.hint = hint
  }
}

/** The values that the checks of a table return. */
export type Checked<R> = { [K in keyof R]: R[K] extends Check<infer T> ? T : never }

/** Option names of other packages, each with this package's name for the option. */
type Aliases = Readonly<Record<string, string>>

/** Creates aliases from a table: each option of this package, with its names in other packages. */
export function aliasesOf(names: Readonly<Record<string, string>>): Aliases {
  return Object.fromEntries(
    Object.entries(names).flatMap(([option, others]) => others.split(' ').map((other) => [other, option])),
  )
}

/**
 * Reads an options object with a table of checks. The compiler ensures that the table has a row for every option.
 * @throws TypeError that names the option, the expected value and the likely mistake, but never the value itself
 */
export function readOptions<O extends object, R extends Record<keyof O, Check<unknown>>>(
  caller: string,
  options: O | undefined,
  schema: R & Record<Exclude<keyof R, keyof O>, never>,
  aliases: Aliases = {},
): Checked<R> {
  const given: object = options ?? {}
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw misuse(`${caller}: expected an options object, got ${describe(given)}`)
  }
  if ('pipe' in given) {
    throw misuse(
      `${caller}: expected an options object, got a request. Pass Express the return value of ${caller}({ … })`,
    )
  }
  const known = Object.keys(schema)
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) throw misuse(`${caller}: unknown option "${name}"${didYouMean(name, known, aliases)}`)
  }
  const read = known.map((name) => {
    const check = (schema as Record<string, Check<unknown>>)[name]
    return [name, named(`${caller}: option "${name}"`, check, memberOf(given, name))]
  })
  return Object.fromEntries(read)
}

/** Says what a value must be, in one line. */
export const mustBe = (name: string, { message, hint }: InvalidOption, value: unknown, tell = describe) =>
  `${name} must be ${message}, but is ${tell(value)}${hint && `. ${hint}`}`

/** Runs a check and adds the option's name to its error. */
export function named<T>(name: string, check: Check<T> | undefined, value: unknown, page?: Page, tell = describe): T {
  try {
    return (check as Check<T>)(value)
  } catch (error) {
    throw error instanceof InvalidOption ? misuse(mustBe(name, error, value, tell), page) : error
  }
}

function didYouMean(name: string, known: readonly string[], aliases: Aliases): string {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]|s$/g, '')
  const likely = () => known.find((k) => plain(k) === plain(name)) ?? suggest(name, known)
  const meant = Object.hasOwn(aliases, name) ? aliases[name] : likely()
  return meant ? `. Did you mean "${meant}"?` : `. Known options: ${known.join(', ')}`
}

/** Describes a value without showing text, because text may be a secret. */
export function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === '') return 'an empty string'
  if (typeof value === 'string') return `a string of ${value.length} characters`
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (isThenable(value)) return 'a Promise (is an "await" missing?)'
  return `${/^[aeiou]/.test(typeof value) ? 'an' : 'a'} ${typeof value}`
}

/** Describes a value that should be a secret, like {@link describe} but without showing numbers. */
export function describeSecret(value: unknown): string {
  return typeof value === 'number' ? 'a number' : describe(value)
}

/** Creates a check for an optional option. Returns `fallback` when the option is absent. */
export function optional<T, F = undefined>(check: Check<T>, fallback?: F): Check<T | F> {
  return (value) => (value === undefined ? (fallback as F) : check(value))
}

/** Creates a check that returns a fitting value unchanged. */
export function must<T>(what: string, fits: (value: unknown) => boolean, hint?: (value: unknown) => string): Check<T> {
  return (value) => {
    if (!fits(value)) throw new InvalidOption(what, hint?.(value))
    return value as T
  }
}

export const bool = must<boolean>('true or false', (value) => typeof value === 'boolean')

/** Creates a check for functions. The compiler checks their signature. */
export const func = <F extends (...args: never[]) => unknown>(what: string) =>
  must<F>(what, (value) => typeof value === 'function')

/** Creates a check for objects with certain methods. The compiler checks the signatures of the methods. */
export function withMethods<T>(
  what: string,
  methods: readonly (keyof T & string)[],
  hint?: (value: unknown) => string,
): Check<T> {
  const hasMethod = (value: object) => (method: string) => typeof memberOf(value, method) === 'function'
  return must(what, (value) => isPlainObject(value) && methods.every(hasMethod(value)), hint)
}

export const text = (what: string, grammar = /./s) =>
  must<string>(what, (value) => typeof value === 'string' && grammar.test(value))

export const integer = (min: number, max: number, what: string) =>
  must<number>(
    `${what}, a whole number from ${min} to ${max}`,
    (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  )

/** The largest number of seconds. Larger numbers are probably meant as milliseconds. */
const LONGEST_NUMBER = 86_400

/** Creates a check for a {@link Duration} between two bounds. Returns milliseconds. */
export function duration(minMs: number, maxMs: number): Check<number> {
  return (value) => {
    const read = durationInMs(value)
    if (!(read >= minMs && read <= maxMs)) {
      const range = `from ${ms(minMs, { long: true })} to ${ms(maxMs, { long: true })}`
      throw new InvalidOption(`a number of seconds or a string like '15m', '1h' or '30 days', ${range}`, hintOn(value))
    }
    return read
  }
}

/** Checks the lifetime of a token, or a part of it. */
export const tokenAge = duration(1000, 366 * 86_400_000)

function durationInMs(value: unknown): number {
  if (typeof value === 'number') return value <= LONGEST_NUMBER ? value * 1000 : Number.NaN
  // ms() reads text without a unit as milliseconds, but numbers are seconds here. So '3600' is ambiguous, and rejected.
  if (typeof value !== 'string' || !/^\d+(\.\d+)? ?[a-z]+$/i.test(value)) return Number.NaN
  return ms(value as ms.StringValue) ?? Number.NaN
}

function hintOn(value: unknown): string {
  if (typeof value === 'string' && /^\d+$/.test(value)) return 'A string needs a unit. Did you mean a number?'
  const long = typeof value === 'number' && value >= 1000
  return long ? "A number means seconds, at most a day. Did you pass milliseconds? For longer times write '7 days'" : ''
}

const clockFunction = func<Clock>('a function that returns a Date or milliseconds')

/** Reads a clock as milliseconds. An invalid time throws, because a comparison with NaN would let expired tokens pass. */
export function clock(value: unknown): () => number {
  const read = clockFunction(value)
  return () => {
    const now: unknown = read()
    const ms = isValidDate(now) ? now.getTime() : now
    if (typeof ms !== 'number' || !(ms >= 0 && ms <= LAST_MOMENT)) {
      throw misuse('option "clock" must return a Date or milliseconds since the epoch')
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

/** Checks a list of required scopes: an array, or a string with spaces between the scopes. */
export const scopeList: Check<readonly string[]> = (value) => {
  const list: unknown = typeof value === 'string' ? value.split(' ') : value
  if (!isScopeList(list) || list.length === 0) {
    throw new InvalidOption(
      "scope tokens, like 'reports:read' or ['reports:read', 'reports:write'] (RFC 6749 section 3.3)",
    )
  }
  return Object.freeze([...list])
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
