import { type Check, InvalidOption } from './read-options.js'
import { isExposed, withoutEndSlashes } from './urls.js'
import { isPlainObject, memberOf } from './values.js'

/** Returns the text of a URL object from any realm, and any other value unchanged. A URL inherits `href` from its class. */
export function hrefOf(value: unknown): unknown {
  const href = isPlainObject(value) && !Object.hasOwn(value, 'href') ? memberOf(value, 'href') : undefined
  return typeof href === 'string' ? href : value
}

/** Reads an absolute http or https URL. The error says what was expected, and the likely mistake. */
export function readWebUrl(value: unknown, what: string): URL {
  if (typeof value === 'string' && /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)) return new URL(value)
  const lacksScheme = typeof value === 'string' && /^[\w.-]+(:\d+)?(\/|$)/.test(value)
  const unset = value === undefined ? 'Is an environment variable not set?' : ''
  throw new InvalidOption(what, lacksScheme ? 'Is "https://" missing?' : unset)
}

function readBaseUrl(value: unknown): URL {
  const what = "an absolute http or https URL without query and fragment, like 'https://api.example.com'"
  const url = readWebUrl(value, what)
  if (url.username || url.password || /[?#]/.test(value as string)) throw new InvalidOption(what)
  return url
}

/** Checks a base URL. Removes the slashes at its end. */
export const baseUrl: Check<string> = (value) => withoutEndSlashes(readBaseUrl(value).href)

/** Checks a base URL, and returns its text unchanged. */
export const exactUrl: Check<string> = (value) => {
  readBaseUrl(value)
  return value as string
}

/**
 * Creates a check for an absolute URL without user name, password and fragment, whose traffic others can neither read nor change.
 * @param hint the likely mistake of a URL with http
 */
export const secureUrl =
  (what: string, hint: string): Check<URL> =>
  (value) => {
    const url = readWebUrl(hrefOf(value), what)
    if (isExposed(url)) throw new InvalidOption(what, hint)
    if (url.username || url.password || url.hash) throw new InvalidOption(what)
    return url
  }

/** Creates a check like {@link exactUrl} for a URL whose traffic others can neither read nor change. */
export const secureExactUrl =
  (what: string, hint: string): Check<string> =>
  (value) => {
    const text = exactUrl(value)
    if (isExposed(new URL(text))) throw new InvalidOption(what, hint)
    return text
  }
