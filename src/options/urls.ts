/** A loopback host as a parsed URL spells it: an IPv4 address, an IPv6 address, or the name (RFC 6761 section 6.3). */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Returns whether others can read and change the traffic: plain http to another machine. */
export function isExposed({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return protocol === 'http:' && !LOOPBACK.test(hostname)
}

/** Returns a text without the slashes at its end. `/\/+$/` needs a time that grows with the square of the slashes. */
export function withoutEndSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
