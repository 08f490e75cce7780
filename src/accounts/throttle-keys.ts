import { hash } from 'node:crypto'
import ipaddr from 'ipaddr.js'

/** What each budget counts by. */
export interface ThrottleKeys {
  address: string
  pair: string
  account: string
}

/** Keys of one length that hold no address in the clear: a shared store is no place for a list of e-mails. */
export function throttleKeys(email: string, address: string | undefined): ThrottleKeys {
  const account = email.trim().normalize('NFKC').toLowerCase()
  const network = clientNetwork(address)
  return { address: digest(network), account: digest(account), pair: digest(`${network} ${account}`) }
}

const digest = (text: string) => hash('sha256', text, 'base64url').slice(0, 22)

/** What some proxies write into X-Forwarded-For: an address with its port. */
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\]):\d+$/i

/** An IPv6 address may end in the dotted form (RFC 4291 section 2.2), which ipaddr.js reads in mapped ones only. */
const DOTTED_TAIL = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/

function hexTail(_: string, ...bytes: string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/** IPv6 addresses that only carry an IPv4 one (RFC 6052, RFC 6145, RFC 3056), and which of their parts do. */
const CARRIERS: Readonly<Record<string, number>> = { ipv4Mapped: 6, rfc6052: 6, rfc6145: 6, '6to4': 1 }

/** An IPv6 address by its /64, which is what one subscriber has; an IPv4 address by itself; what is no address, all as one. */
export function clientNetwork(address = ''): string {
  const written = (WITH_PORT.exec(address)?.[1] ?? address).replace(/^\[|\]$/g, '').split('%')[0] ?? ''
  const bare = written.includes(':') ? written.replace(DOTTED_TAIL, hexTail) : written
  if (!ipaddr.isValid(bare)) return 'unknown'
  const parsed = ipaddr.parse(bare)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  const carrier = CARRIERS[parsed.range()]
  if (carrier === undefined) return `${parsed.parts.slice(0, 4).join(':')}/64`
  const carried = parsed.parts.slice(carrier, carrier + 2).flatMap((part) => [part >> 8, part & 255])
  return carried.join('.')
}
