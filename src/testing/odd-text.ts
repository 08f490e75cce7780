/** Nobody's addresses, each with what it is: what anyone can send to the token endpoint. */
export function oddAddresses(known: string): [string, string][] {
  const [first = '', ...rest] = [...known]
  const addresses: [string, string][] = [
    ['an empty string', ''],
    ['a long address', `${'a'.repeat(9000)}@nobody.invalid`],
    ['a quote', "'"],
    ['SQL', "' OR '1'='1' -- "],
    ['SQL in double quotes', '" OR ""="'],
    ['a backslash', '\\'],
    ['a pattern for all', '%'],
    ['a pattern for one letter', `_${rest.join('')}`],
    ['a shell’s pattern', '*'],
    ['a regular expression', '.*'],
    ['an LDAP filter', '*)(uid=*))(|(uid=*'],
    ['a query object as text', '{"$ne":null}'],
    ['a name that objects have', '__proto__'],
    ['another name that objects have', 'constructor'],
    ['line ends', 'nobody@nobody.invalid\r\nBcc: all@nobody.invalid'],
    ['letters of other scripts', '用户@例え.テスト'],
    ['an emoji', '😀@nobody.invalid'],
    ['NUL alone', '\0'],
    // What stops reading at the NUL, as C does, finds the account.
    ['NUL behind a known address', `${known}\0`],
    ['NUL and more behind a known address', `${known}\0@nobody.invalid`],
    // UTF-8 cannot hold half a pair: written out, both turn into U+FFFD, and so into each other.
    ['half of a surrogate pair', '\ud83d'],
    ['half of a surrogate pair behind a known address', `${known}\ud83d`],
    ['the other half before a known address', `\ude00${known}`],
  ]
  return first === '_' ? addresses.filter(([, address]) => address !== known) : addresses
}

/** What databases take for the same hash, or for a pattern that it fits. */
export function otherHashes(hash: string): [string, string][] {
  const swapped = hash.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))
  const all: [string, string][] = [
    ['another hash', another(hash)],
    ['an empty string', ''],
    ['the hash with a blank at its end', `${hash} `],
    ['a pattern', '%'],
    ['the hash in the other letter case', swapped],
  ]
  return all.filter(([, from]) => from !== hash)
}

const KINDS: [RegExp, string][] = [
  [/\d/, '0123456789'],
  [/[a-f]/, 'abcdef'],
  [/[A-F]/, 'ABCDEF'],
  [/[g-z]/, 'ghijklmnopqrstuvwxyz'],
  [/[G-Z]/, 'GHIJKLMNOPQRSTUVWXYZ'],
]

/** Texts that differ from one in its last letter or digit only: they fit where it fits, a UUID's column included. */
export function others(text: string, count: number): string[] {
  const at = text.search(/[a-z\d][^a-z\d]*$/i)
  const last = text[at] ?? ''
  const [, kind = ''] = KINDS.find(([pattern]) => pattern.test(last)) ?? []
  const next = [...kind].filter((one) => one !== last)
  if (next.length === 0) return Array.from({ length: count }, (_, index) => `${text}${index}`)
  return next.slice(0, count).map((one) => text.slice(0, at) + one + text.slice(at + 1))
}

export const another = (text: string) => others(text, 1)[0] as string
