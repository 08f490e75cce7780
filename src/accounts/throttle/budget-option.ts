import {
  type Check,
  type Duration,
  duration,
  InvalidOption,
  integer,
  isPlainObject,
  readOptions,
} from '../../shared/options.js'

/** A failed-login limit, as set with the options `budgets` and `spraying`. */
export interface Budget {
  /** The number of failures that are allowed: 1 to 1,000,000. */
  points: number
  /** The length of the window: a second to 366 days, rounded up to whole seconds. */
  duration: Duration
}

/** The failures that are allowed, and the length of the window in milliseconds. */
export interface Size {
  points: number
  duration: number
}

const schema = {
  points: integer(1, 1_000_000, 'a number of failures'),
  duration: duration(1000, 366 * 86_400_000),
}

/** Creates a check for a limit. `name` is the caller and the option, for messages. */
export function budgetOption(name: string, what = '{ points, duration }'): Check<Size> {
  return (value) => {
    if (!isPlainObject(value)) throw new InvalidOption(what)
    return readOptions<Budget, typeof schema>(name, value as unknown as Budget, schema)
  }
}
