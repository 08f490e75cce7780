import { isIPv4, isIPv6 } from 'node:net'
import { URL } from 'node:url'

/**
 * The longest text that can be an IP address. An IPv6 address that ends in the dotted form has 45 characters, brackets have 2, and
 * a port has 6. A zone has 17, because libuv cuts an interface's name to 16.
 */
const LONGEST_ADDRESS = 70

/** A server that listens on IPv6 and IPv4 sees an IPv4 client in this form. */
const MAPPED = /^::ffff:/i

/** Some proxies write the port into X-Forwarded-For. */
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\]):\d+$/i

/**
 * The beginnings of IPv6 addresses with an IPv4 address in the next 32 bits: ::ffff:0:0/96, ::ffff:0:0:0/96, 64:ff9b::/96 and 2002::/16
 * (RFC 4291, RFC 6145, RFC 6052, RFC 3056).
 */
const CARRIERS = ['ffff'.padStart(24, '0'), 'ffff0000'.padStart(24, '0'), '0064ff9b'.padEnd(24, '0'), '2002']

/**
 * Returns the network of a client's address. It is the /64 of an IPv6 address, because a subscriber has at least a /64. It is the
 * whole IPv4 address, in one spelling. For any other text, it is `unknown`.
 */
export function clientNetwork(address: string | undefined): string {
  // Long text is rejected first, because the regular expressions below may be slow on it.
  if (typeof address !== 'string' || address.length > LONGEST_ADDRESS) return 'unknown'
  const usual = address.replace(MAPPED, '')
  if (isIPv4(usual)) return usual
  const unwrapped = (WITH_PORT.exec(address)?.[1] ?? address).replace(/^\[|\]$/g, '').replace(/%.*/s, '')
  if (isIPv4(unwrapped)) return unwrapped
  if (!isIPv6(unwrapped)) return 'unknown'
  const digits = digitsOf(unwrapped)
  const carrier = CARRIERS.find((start) => digits.startsWith(start))
  if (carrier === undefined) return `${digits.slice(0, 16)}/64`
  return Buffer.from(digits.slice(carrier.length, carrier.length + 8), 'hex').join('.')
}

/** Returns the 32 hexadecimal digits of an IPv6 address. A URL spells an address in one way, without the dotted form. */
function digitsOf(address: string): string {
  const { hostname } = new URL(`http://[${address}]`)
  const groups = [...hostname.matchAll(/[\da-f]+|::/g)].map(([group]) => group)
  return groups.map((group) => (group === '::' ? '0000'.repeat(9 - groups.length) : group.padStart(4, '0'))).join('')
}
