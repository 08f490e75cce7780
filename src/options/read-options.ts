import { type Message, misuse, type Page, type Subject } from './misuse.js'
import { type Aliases, suggestion } from './suggest.js'
import { bare, isThenable, memberOf } from './values.js'

/**
 * Reads one option. Treats `undefined` as absent. Throws {@link InvalidOption} for an invalid value.
 * @param name the option's name in errors, or its index in a list. Only a check with its own errors reads it
 */
export type Check<T> = (value: unknown, name?: string | number) => T

/** The error for an invalid option: the expected value and the likely mistake. Never holds the value itself. */
export class InvalidOption extends Error {
  readonly hint: string
  readonly describeValue: (value: unknown) => string
  /** @param describeValue pass `describeNumber` only where a number is expected, because any other number may be a secret */
  constructor(what: string, hint = '', describeValue = describe) {
    super(what)
    this.hint = hint
    this.describeValue = describeValue
  }
}

/** The values that the checks of a table return. */
export type Checked<R> = { [K in keyof R]: R[K] extends Check<infer T> ? T : never }

/** Creates aliases from a table: each option of this package, or a sentence, with its names in other packages. */
export function aliasesOf(names: Readonly<Record<string, string>>): Aliases {
  return Object.fromEntries(
    Object.entries(names).flatMap(([option, others]) => others.split(' ').map((other) => [other, option])),
  )
}

/** The wording of a reader's errors. */
export interface Wording {
  /** Creates the error from its message. */
  error(message: string): Error
  /** Returns the name of an option, for the error about its value. */
  option(name: string): string
  /** Returns the beginning of the error for an unknown option. */
  unknown(name: string): string
  /** The words before the list of all options. Default "Known". */
  known?: string
  /** The characters before an option in a hint. */
  prefix?: string
  aliases?: Aliases
}

/** Reads an object of options, of arguments or of a file with a table of checks. */
export function readTable<R extends Record<string, Check<unknown>>>(given: object, table: R, wording: Wording) {
  const { error, option } = wording
  const known = Object.keys(table)
  for (const name of Object.keys(given)) if (!known.includes(name)) throw unknownOption(name, known, wording)
  const read = Object.entries(table).map(([name, check]) => {
    return [name, checkValue(option(name), check, memberOf(given, name), error)]
  })
  return bare(Object.fromEntries(read)) as Checked<R>
}

/** Returns the error for an option that does not exist. */
export function unknownOption(name: string, options: readonly string[], wording: Wording): Error {
  const { error, unknown, known, prefix, aliases } = wording
  return error(`${unknown(name)}. ${suggestion(name, options, { known, prefix, aliases })}`)
}

/** Runs a check. Adds the option's name and a description of the value to its error. */
export function checkValue<T>(name: string, check: Check<T>, value: unknown, error: Wording['error']): T {
  try {
    return check(value, name)
  } catch (cause) {
    if (!(cause instanceof InvalidOption)) throw cause
    const { message, hint, describeValue } = cause
    throw error(`${name} must be ${message}, but is ${describeValue(value)}${hint && `. ${hint}`}`)
  }
}

/**
 * Reads an options object with a table of checks. The compiler ensures that the table has a row for every option.
 * @throws TypeError that names the option, the expected value and the likely mistake, but never the value itself
 */
export function readOptions<O extends object, R extends Record<keyof O, Check<unknown>>>(
  caller: Subject | Message,
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
  return readTable<R>(given, schema, {
    error: (message) => misuse(message as Message),
    option: (name) => `${caller}: option "${name}"`,
    unknown: (name) => `${caller}: unknown option "${name}"`,
    known: 'Known options',
    aliases,
  })
}

/** Runs a check. Its error is a TypeError that names a page, by default the one of the subject. */
export function named<T>(name: Message, check: Check<T>, value: unknown): T
export function named<T>(name: string, check: Check<T>, value: unknown, page: Page): T
export function named<T>(name: string, check: Check<T>, value: unknown, page?: Page): T {
  const error = (message: string) => (page ? misuse(message, page) : misuse(message as Message))
  return checkValue(name, check, value, error)
}

/** Describes a value without showing text or numbers, because they may be a secret. */
export function describe(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === '') return 'an empty string'
  if (typeof value === 'string') return `a string of ${value.length} characters`
  if (value === null || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (isThenable(value)) return 'a Promise (is an "await" missing?)'
  return `${/^[aeiou]/.test(typeof value) ? 'an' : 'a'} ${typeof value}`
}

/** Describes a value that should be a number, like {@link describe} but showing numbers. */
export const describeNumber = (value: unknown) => (typeof value === 'number' ? String(value) : describe(value))

/** Describes a value that should be a list: of an array, the first item that does not fit. */
export const describeList = (fits: (item: unknown) => boolean) => (value: unknown) => {
  const index = Array.isArray(value) ? value.findIndex((item) => !fits(item)) : -1
  return index < 0 ? describe(value) : `an array whose item ${index + 1} is ${describe((value as unknown[])[index])}`
}

/** Creates a check for an optional option. Returns `fallback` when the option is absent. */
export function optional<T, F = undefined>(check: Check<T>, fallback?: F): Check<T | F> {
  return (value, name) => (value === undefined ? (fallback as F) : check(value, name))
}

export function checkThat<T>(
  what: string,
  fits: (value: unknown) => boolean,
  hint?: (value: unknown) => string,
  describeValue?: (value: unknown) => string,
): Check<T> {
  return (value) => {
    if (!fits(value)) throw new InvalidOption(what, hint?.(value), describeValue)
    return value as T
  }
}
