/** An origin with http, unless its host is loopback: an IPv4 address, an IPv6 address, or the name (RFC 6761 section 6.3). */
const EXPOSED = /^http:\/\/(?!(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$)/

/** Returns whether others can read and change the traffic: plain http to another machine. */
export function isExposed({ origin }: Pick<URL, 'origin'>): boolean {
  return EXPOSED.test(origin)
}

/** Returns a text without the slashes at its end. `/\/+$/` needs a time that grows with the square of the slashes. */
export function withoutEndSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
