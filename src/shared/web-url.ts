import { type Check, InvalidOption, isPlainObject } from './options.js'
import { memberOf } from './values.js'

/** Returns the text of a URL object, from any realm, and everything else as it is. Its class has `href`, not the object. */
export function hrefOf(value: unknown): unknown {
  const href = isPlainObject(value) && !Object.hasOwn(value, 'href') ? memberOf(value, 'href') : undefined
  return typeof href === 'string' ? href : value
}

/**
 * Reads an absolute http or https URL, as somebody wrote it.
 * @param what what it must be, for the message
 * @throws Expected with the likely mistake
 */
export function readWebUrl(value: unknown, what: string): URL {
  if (typeof value === 'string' && /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)) return new URL(value)
  const bare = typeof value === 'string' && /^[\w.-]+(:\d+)?(\/|$)/.test(value)
  const unset = value === undefined ? 'Is an environment variable not set?' : ''
  throw new InvalidOption(what, bare ? 'Is "https://" missing?' : unset)
}

/** An IPv4 address as a parsed URL spells it, an IPv6 one, and the name (RFC 6761 section 6.3). */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Whether what goes there and comes back can be read and changed on the way: plain http to another machine. */
export function isExposed({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !LOOPBACK.test(hostname)
}

/** A base URL, without a slash at its end. */
export const baseUrl: Check<string> = (value) => {
  const what = "an absolute http or https URL without query and fragment, like 'https://api.example.com'"
  const url = readWebUrl(value, what)
  if (url.search || url.hash || url.username || url.password || /[?#]$/.test(value as string))
    throw new InvalidOption(what)
  return url.href.replace(/\/+$/, '')
}
