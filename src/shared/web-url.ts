import { type Check, InvalidOption, isPlainObject } from './options.js'
import { memberOf } from './values.js'

/** Returns the text of a URL object from any realm, and any other value unchanged. A URL inherits `href` from its class. */
export function hrefOf(value: unknown): unknown {
  const href = isPlainObject(value) && !Object.hasOwn(value, 'href') ? memberOf(value, 'href') : undefined
  return typeof href === 'string' ? href : value
}

/**
 * Reads an absolute http or https URL.
 * @param what the expected value, for the error
 * @throws Expected with the likely mistake
 */
export function readWebUrl(value: unknown, what: string): URL {
  if (typeof value === 'string' && /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)) return new URL(value)
  const bare = typeof value === 'string' && /^[\w.-]+(:\d+)?(\/|$)/.test(value)
  const unset = value === undefined ? 'Is an environment variable not set?' : ''
  throw new InvalidOption(what, bare ? 'Is "https://" missing?' : unset)
}

/** A loopback host as a parsed URL spells it: an IPv4 address, an IPv6 address, or the name (RFC 6761 section 6.3). */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Returns whether others can read and change the traffic: plain http to another machine. */
export function isExposed({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !LOOPBACK.test(hostname)
}

/** Checks a base URL. Removes the slashes at its end. */
export const baseUrl: Check<string> = (value) => {
  const what = "an absolute http or https URL without query and fragment, like 'https://api.example.com'"
  const url = readWebUrl(value, what)
  if (url.search || url.hash || url.username || url.password || /[?#]$/.test(value as string))
    throw new InvalidOption(what)
  return url.href.replace(/\/+$/, '')
}
