import {
  aliasesOf,
  type Check,
  type Checked,
  checkThat,
  InvalidOption,
  readTable,
} from '../../../options/read-options.js'
import { isPlainObject } from '../../../options/values.js'
import { checked } from '../../command.js'
import { UsageError } from '../../command-error.js'

/** Names that other tools use. */
const ALIASES = aliasesOf({
  path: 'url endpoint',
  type: 'contentType',
  user: 'email username',
  fields: 'extra constants',
  form: 'format unit',
  success: 'ok',
  missingToken: 'unauthorized',
  malformed: 'invalid',
})

/** Creates a check for an object with known members. People often write only a text, so the error shows an example. */
export function objectOf<R extends Record<string, Check<unknown>>>(
  table: R,
  example?: string,
  separator = '.',
): Check<Checked<R>> {
  const aliases = Object.fromEntries(Object.entries(ALIASES).filter(([, meant]) => Object.hasOwn(table, meant)))
  return (value, at) => {
    if (!isPlainObject(value)) throw new InvalidOption(example ? `an object like ${example}` : 'an object')
    return readTable(value, table, {
      error: (message) => new UsageError(message),
      option: (name) => `${at}${separator}${name}`,
      unknown: (name) => `${at}: unknown member ${JSON.stringify(name)}`,
      aliases,
    })
  }
}

/** Creates a check for an object whose names are free. */
export function recordOf<T>(name: Check<string>, check: Check<T>): Check<Record<string, T>> {
  return (value, at) => {
    if (!isPlainObject(value)) throw new InvalidOption('an object')
    const read = Object.entries(value).map(([key, one]) => {
      return [checked(`a name in ${at}`, name, key), checked(`${at}.${key}`, check, one)]
    })
    return Object.fromEntries(read)
  }
}

/** Creates a check for one of several words. */
export const word = <T extends string>(...known: readonly T[]): Check<T> =>
  checkThat(`one of ${known.map((name) => `"${name}"`).join(', ')}`, (value) => known.includes(value as T))

/** Creates a check for a path below the base URL. Errors show the example. */
export const pathLike = (example: string): Check<string> =>
  checkThat(
    `a path below the base URL, like ${example}`,
    (value) => typeof value === 'string' && /^\/[^\s#\\]*$/.test(value),
    (value) => (typeof value === 'string' && !value.startsWith('/') ? 'A path begins with a slash' : ''),
  )
