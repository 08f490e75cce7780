/** The rest of a longer header is not read. */
const LONGEST = 8192

/**
 * A part of a list of challenges (RFC 9110 section 11.6.1). A name without a value begins a challenge:
 * `auth-param = token BWS "=" BWS ( token / quoted-string )`. Also reads malformed lists.
 */
const PART = /([^\s,="]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s,"]*)))?/g

/** Returns the error code of the `Bearer` challenge (RFC 6750 section 3) in a `WWW-Authenticate` header. */
export function bearerError(header: string): string | undefined {
  let scheme = ''
  for (const [, text = '', quoted, value = quoted] of header.slice(0, LONGEST).matchAll(PART)) {
    const name = text.toLowerCase()
    if (value === undefined) scheme = name
    else if (scheme === 'bearer' && name === 'error') return value.replace(/\\(.)/g, '$1')
  }
  return undefined
}
