/** The longest e-mail address, in UTF-16 code units: 64 + 1 + 255 (RFC 5321 section 4.5.3.1). No account has a longer one. */
export const LONGEST_EMAIL = 320

/** The key of every text that is too long. Other keys have no lower-case ASCII letters. */
const TOO_LONG = 'too long'

/**
 * Invisible and control characters, combining marks, white space, the interpunct of the Catalan l·l, and an Arabic sign that
 * utf8mb4_unicode_ci ignores.
 */
const IGNORED = /[\p{DI}\p{Cf}\p{Cc}\p{M}\s·\u06de]/gu

/**
 * Returns the key for the failed logins of an e-mail address. All spellings that a common account store treats as the same address
 * share one key, because otherwise each spelling would have its own failed-login limit.
 */
export function accountKey(email: string): string {
  if (email.length > LONGEST_EMAIL) return TOO_LONG
  return (
    email
      .normalize('NFKD')
      // Runs before marks are removed, because collations treat some marks as letters, for example U+0363 as a.
      .replace(/[^\0-\x7f]/gu, asciiOf)
      // utf8mb4_unicode_ci treats four Bengali signs as the digits 1 to 4.
      .replace(/[\u09f4-\u09f7]/g, (sign) => `${sign.charCodeAt(0) - 0x09f3}`)
      .replace(IGNORED, '')
      .toUpperCase()
      // Most collations treat a sharp s as ss, but utf8mb4_general_ci treats it as s.
      .replace(/SS+/g, 'S')
  )
}

/** The longest ASCII text that equals a single character has three letters. For example, U+1F198 equals "sos". */
const LONGEST_EQUIVALENT = 3

/** A text that sorts after every ASCII text of that length, and before letters of other scripts. */
const LAST = 'zzzz'

/** Printable ASCII without capitals. */
const ASCII = ' !"#$%&\'()*+,-./0123456789:;<=>?@[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~'

/** Characters that were looked up. A look-up costs some microseconds, so its result is cached for the process. */
let unchanged: Uint8Array | undefined
const equivalents = new Map<string, string>()

/**
 * Returns the ASCII text that equals a character at the weakest strength of a collation. There, ø equals o, and digits of all
 * scripts are equal. Returns the character itself if no ASCII text equals it.
 */
function asciiOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  unchanged ??= new Uint8Array(0x110000)
  if (unchanged[code] === 1) return character
  const known = equivalents.get(character)
  if (known !== undefined) return known
  const text = searchAscii(character)
  if (text === undefined) unchanged[code] = 1
  else equivalents.set(character, text)
  return text ?? character
}

function searchAscii(character: string): string | undefined {
  collation ??= rootCollation()
  const { compare, sorted } = collation
  if (compare(character, LAST) > 0) return undefined
  let text = ''
  while (compare(character, text) !== 0) {
    if (text.length === LONGEST_EQUIVALENT) return undefined
    // An equal text begins with the last ASCII character that does not sort after the character.
    let [from, to] = [0, sorted.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (compare(text + sorted[middle], character) > 0) to = middle
      else from = middle + 1
    }
    if (from === 0) return undefined
    text += sorted[from - 1]
  }
  return text
}

/** Created for the first address that needs it, because few do. */
let collation: ReturnType<typeof rootCollation> | undefined

/** Returns the collation for English, which is the root collation that stores use by default, and the characters of `ASCII` in its order. */
function rootCollation() {
  const { compare } = new Intl.Collator('en', { sensitivity: 'base' })
  return { compare, sorted: [...ASCII].sort(compare) }
}
