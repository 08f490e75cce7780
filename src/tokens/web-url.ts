import { type Check, Expected } from '../options.js'

/**
 * Reads an absolute http or https URL, as somebody wrote it.
 * @param what what it must be, for the message
 * @throws Expected with the likely mistake
 */
export function readWebUrl(value: unknown, what: string): URL {
  if (typeof value === 'string' && /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)) return new URL(value)
  const bare = typeof value === 'string' && /^[\w.-]+(:\d+)?(\/|$)/.test(value)
  const unset = value === undefined ? 'Is an environment variable not set?' : ''
  throw new Expected(what, bare ? 'Is "https://" missing?' : unset)
}

/** A base URL, without a slash at its end. */
export const baseUrl: Check<string> = (value) => {
  const what = "an absolute http or https URL without query and fragment, like 'https://api.example.com'"
  const url = readWebUrl(value, what)
  if (url.search || url.hash || url.username || url.password || /[?#]$/.test(value as string)) throw new Expected(what)
  return url.href.replace(/\/+$/, '')
}
