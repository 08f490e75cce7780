import { isIPv4 } from 'node:net'
import { ipaddr } from '../on-first-use.cjs'

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
 * An IPv6 address may end in the dotted form (RFC 4291 section 2.2). ipaddr.js reads `::1.2.3.4` as the mapped `::ffff:1.2.3.4`, so
 * the end is rewritten in hexadecimal.
 */
const DOTTED_TAIL = /:(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

function hexTail(tail: string, ...groups: string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = groups.map(Number)
  if (Math.max(a, b, c, d) > 255) return tail
  return `:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/**
 * The IPv6 ranges that carry an IPv4 address (RFC 4291, RFC 6052, RFC 6145, RFC 3056), and the index of the part where the
 * address starts. They are written out because ipaddr.js's `rfc6052` includes 64:ff9b:1::/48, where the address may start elsewhere.
 */
const CARRIERS = [
  { range: '::ffff:0:0/96', start: 6 },
  { range: '64:ff9b::/96', start: 6 },
  { range: '::ffff:0:0:0/96', start: 6 },
  { range: '2002::/16', start: 1 },
]

type Ipaddr = ReturnType<typeof ipaddr>
interface Addresses {
  library: Ipaddr
  carriers: { range: [InstanceType<Ipaddr['IPv6']>, number]; start: number }[]
}
let loaded: Addresses | undefined

/**
 * Loads ipaddr.js, which the first address would otherwise wait for.
 * @internal
 */
export function loadAddresses(): Addresses {
  loaded ??= addresses(ipaddr())
  return loaded
}

function addresses(library: Ipaddr): Addresses {
  return { library, carriers: CARRIERS.map(({ range, start }) => ({ range: library.IPv6.parseCIDR(range), start })) }
}

/**
 * Returns the network of a client's address. It is the /64 of an IPv6 address, because a subscriber has at least a /64. It is the
 * whole IPv4 address, in one spelling. For any other text, it is `unknown`.
 */
export function clientNetwork(address: string | undefined): string {
  // Long text is rejected first, because the regular expressions below may be slow on it.
  if (typeof address !== 'string' || address.length > LONGEST_ADDRESS) return 'unknown'
  const usual = address.replace(MAPPED, '')
  if (isIPv4(usual)) return usual
  const written = (WITH_PORT.exec(address)?.[1] ?? address).replace(/^\[|\]$/g, '').replace(/%.*/s, '')
  const bare = written.replace(DOTTED_TAIL, hexTail)
  // ipaddr.js reads octal and hexadecimal numbers in a dotted tail. No proxy writes them, and they are not valid addresses.
  if (bare.includes(':') && bare.includes('.')) return 'unknown'
  const { library, carriers } = loadAddresses()
  if (!library.isValid(bare)) return 'unknown'
  const parsed = library.parse(bare)
  if (!(parsed instanceof library.IPv6)) return parsed.toString()
  const carrier = carriers.find(({ range }) => parsed.match(range))
  if (!carrier) return `${parsed.parts.slice(0, 4).join(':')}/64`
  const carried = parsed.parts.slice(carrier.start, carrier.start + 2).flatMap((part) => [part >> 8, part & 255])
  return carried.join('.')
}
