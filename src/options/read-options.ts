import { misuse, type Page } from './misuse.js'
import { suggest } from './suggest.js'
import { isThenable, memberOf } from './values.js'

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

export function must<T>(what: string, fits: (value: unknown) => boolean, hint?: (value: unknown) => string): Check<T> {
  return (value) => {
    if (!fits(value)) throw new InvalidOption(what, hint?.(value))
    return value as T
  }
}
