import { type Check, InvalidOption } from '../../options/read-options.js'

/** Creates a check for a path below the base URL. Errors show the example. */
export const pathLike =
  (example: string): Check<string> =>
  (value) => {
    if (typeof value === 'string' && /^\/[^\s#\\]*$/.test(value)) return value
    const hint = typeof value === 'string' && !value.startsWith('/') ? 'A path begins with a slash' : ''
    throw new InvalidOption(`a path below the base URL, like ${example}`, hint)
  }
