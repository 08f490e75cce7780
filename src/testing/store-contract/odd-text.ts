/** Returns addresses that no account has, each with its description. Anyone can send them to the token endpoint. */
export function oddAddresses(known: string): [string, string][] {
  const addresses: [string, string][] = [
    ['an empty string', ''],
    ['a long address', `${'a'.repeat(9000)}@nobody.invalid`],
    ['a quote', "'"],
    ['SQL', "' OR '1'='1' -- "],
    ['SQL in double quotes', '" OR ""="'],
    ['a backslash', '\\'],
    ['a pattern for all', '%'],
    ['a pattern for one letter', known.replace(/./su, '_')],
    ['a shell’s pattern', '*'],
    ['a regular expression', '.*'],
    ['an LDAP filter', '*)(uid=*))(|(uid=*'],
    ['a query object as text', '{"$ne":null}'],
    ['a name that objects have', '__proto__'],
    ['another name that objects have', 'constructor'],
    ['line ends', 'nobody@nobody.invalid\r\nBcc: all@nobody.invalid'],
    ['letters of other scripts', '用户@例え.テスト'],
    ['an emoji', '😀@nobody.invalid'],
    ['only NUL', '\0'],
    // A store that stops at the NUL, like C, finds the account.
    ['NUL after a known address', `${known}\0`],
    ['NUL and more after a known address', `${known}\0@nobody.invalid`],
    // UTF-8 cannot encode half a pair. Both halves become U+FFFD, and therefore equal.
    ['half of a surrogate pair', '\ud83d'],
    ['half of a surrogate pair after a known address', `${known}\ud83d`],
    ['the other half before a known address', `\ude00${known}`],
  ]
  return addresses.filter(([, address]) => address !== known)
}

/**
 * Returns other addresses that contain the given one or a part of it, each with its difference. A store that compares only a part of an address,
 * or its letters and digits, finds the account.
 */
export function similarAddresses(email: string): [string, string][] {
  const [local = '', domain = ''] = email.split(/@(?=[^@]*$)/)
  const all: [string, string][] = [
    ['without punctuation', email.replace(/[^\p{L}\p{N}]/gu, '')],
    ['with a zero before its number', email.replace(/\d+/, '0$&')],
    ['without its last character', email.slice(0, -1)],
    ['without its first character', email.replace(/^./su, '')],
    ['without its domain', local],
    ['with more after it', `${email}.invalid`],
    ['in quotation marks', `"${local}"@${domain}`],
    ['in angle brackets', `<${email}>`],
    ['with a dot after it', `${email}.`],
  ]
  return all.filter(([, address]) => address !== email)
}

/** Returns texts that are too long for an address, each with its description. Some stores cut or trim them and find the account. */
export function longSpellings(email: string, longest: number): [string, string][] {
  return [
    ['blanks after the address', email + ' '.repeat(longest)],
    ['blanks before the address', ' '.repeat(longest) + email],
    ['blanks and a letter after the address', `${email}${' '.repeat(longest)}x`],
    ['invisible characters after the address', email + '\u200b'.repeat(longest)],
    ['accents after the address', email + '\u0301'.repeat(longest)],
    ['a tag after the address', email.replace('@', `+${'x'.repeat(longest)}@`)],
  ]
}

/** Returns a text with each letter in the other case. */
export const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))

/**
 * Returns ids that a store may take for a given id: by their start, as a pattern, or as the number at their start. Letter case is not among
 * the differences, because a column of UUIDs ignores it.
 */
export function otherIds(id: string): [what: string, id: string][] {
  const all: [string, string][] = [
    ['a zero before it', `0${id}`],
    ['a letter after it', `${id}a`],
    ['a digit after it', `${id}0`],
    ['without its last character', id.slice(0, -1)],
    ['a pattern for one character', `_${id.slice(1)}`],
    ['a pattern for its end', `${id.slice(0, 1)}%`],
    ["a shell's pattern", `${id.slice(0, 1)}*`],
    ['a pattern for all', '%'],
  ]
  return all.filter(([, one]) => one !== '' && one !== id)
}

/** Returns texts that some databases treat as the same hash, or as a pattern that matches the hash. */
export function otherHashes(hash: string): [string, string][] {
  const all: [string, string][] = [
    ['another hash', another(hash)],
    ['an empty string', ''],
    ['the hash with a blank at its end', `${hash} `],
    ['a pattern', '%'],
    ['a pattern for one character', `_${hash.slice(1)}`],
    ['the start of the hash', hash.slice(0, -1)],
    ['the hash in the other letter case', swapCase(hash)],
  ]
  return all.filter(([, from]) => from !== hash)
}

/** Columns of hexadecimal numbers have no other letters. */
const KINDS = ['0123456789', 'abcdef', 'ABCDEF', 'ghijklmnopqrstuvwxyz', 'GHIJKLMNOPQRSTUVWXYZ']

/** Returns texts that differ only in the last letter or digit, so that they fit the same column, for example of UUIDs. */
export function others(text: string, count: number): string[] {
  const at = text.search(/[a-z\d][^a-z\d]*$/i)
  const last = text.charAt(at)
  const kind = KINDS.find((characters) => last && characters.includes(last))
  if (!kind) return Array.from({ length: count }, (_, index) => `${text}${index}`)
  const next = [...kind].filter((one) => one !== last).slice(0, count)
  return next.map((one) => text.slice(0, at) + one + text.slice(at + 1))
}

export const another = (text: string) => others(text, 1)[0] as string
