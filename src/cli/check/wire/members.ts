import { type Check, InvalidOption, mustBe } from '../../../options/read-options.js'
import { suggestion } from '../../../options/suggest.js'
import { isPlainObject, own } from '../../../options/values.js'
import { UsageError } from '../../command-error.js'

/** Reads one member. `at` is its name in errors. */
export type Read<T> = (at: string, value: unknown) => T
type Members<S> = { [Name in keyof S]: S[Name] extends Read<infer T> ? T : never }

/**
 * Creates a reader of objects with known members.
 * @param aliases names that other tools use, for hints in errors
 * @param examples an object for the name of a member, for errors
 */
export function membersWith(aliases: Readonly<Record<string, string>>, examples: Readonly<Record<string, string>>) {
  return <S extends Record<string, Read<unknown>>>(at: string, value: unknown, schema: S): Members<S> => {
    const given = objectAt(at, value, own(examples, at.split(': ').at(-1) as string))
    const known = Object.keys(schema)
    for (const name of Object.keys(given)) {
      if (known.includes(name)) continue
      const likely = own(aliases, name)
      const hint = likely && known.includes(likely) ? `Did you mean "${likely}"?` : suggestion(name, known)
      throw new UsageError(`${at}: unknown member ${JSON.stringify(name)}. ${hint}`)
    }
    const colon = at.includes(': ') ? '.' : ': '
    const read = Object.entries(schema).map(([name, one]) => [name, one(`${at}${colon}${name}`, own(given, name))])
    return Object.fromEntries(read) as Members<S>
  }
}

/** Requires an object. */
function objectAt(at: string, value: unknown, example?: string): Record<string, unknown> {
  return is<Record<string, unknown>>((given) => {
    if (!isPlainObject(given)) throw new InvalidOption(example ? `an object like ${example}` : 'an object')
    return given
  })(at, value)
}

/** Reads a value with the check of an option. */
export const is =
  <T>(check: Check<T>): Read<T> =>
  (at, value) => {
    try {
      return check(value)
    } catch (error) {
      throw error instanceof InvalidOption ? new UsageError(mustBe(at, error, value)) : error
    }
  }

/** Reads a member that may be absent. */
export function absent<T>(read: Read<T>): Read<T | undefined> {
  return (at, value) => (value === undefined ? undefined : read(at, value))
}

export function absentOr<T>(read: Read<T>, fallback: T): Read<T> {
  return (at, value) => (value === undefined ? fallback : read(at, value))
}

export function oneOf<T extends string>(...known: readonly T[]): Check<T> {
  return (value) => {
    const found = known.find((name) => name === value)
    if (found === undefined) throw new InvalidOption(`one of ${known.map((name) => `"${name}"`).join(', ')}`)
    return found
  }
}

/** Reads an object whose names are free. */
export const each =
  <T>(name: Check<string>, read: Read<T>): Read<Record<string, T>> =>
  (at, value) =>
    Object.fromEntries(
      Object.entries(objectAt(at, value)).map(([key, one]) => [
        is(name)(`a name in ${at}`, key),
        read(`${at}.${key}`, one),
      ]),
    )
