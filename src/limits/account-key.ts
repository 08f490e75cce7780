import { equalLetters } from './equal-letters.js'

/** The longest e-mail address, in UTF-16 code units: 64 + 1 + 255 (RFC 5321 section 4.5.3.1). No account has a longer one. */
export const LONGEST_EMAIL = 320

/** The key of every text that is too long. Other keys have no lower-case ASCII letters. */
const TOO_LONG = 'too long'

/** An address in printable ASCII. It needs no normalisation. */
const PLAIN = /^[!-~]*$/

/**
 * The characters that keys omit:
 * - invisible and control characters, combining marks and white space,
 * - characters that this Node does not know, because the store may know them as marks,
 * - characters above U+FFFF, half of a surrogate pair and its replacement, which older rules of MySQL treat as one character,
 * - vowels that Thai and Lao write before their consonant, because collations change their order,
 * - the interpunct of the Catalan l·l, the hamza and the capital iota, which some forms of a text add, omit or move.
 */
const OMITTED = /[\p{DI}\p{Cf}\p{Cc}\p{Cn}\p{Cs}\p{M}\p{LOE}\s·Ιء\ufffd]/u

/**
 * Returns the key for the failed logins of an e-mail address. All spellings that a common account store treats as the same address
 * share one key, because otherwise each spelling would have its own failed-login limit.
 */
export function accountKey(email: string): string {
  if (email.length > LONGEST_EMAIL) return TOO_LONG
  const letters = PLAIN.test(email) ? email.toUpperCase() : lettersOf(email)
  // Most collations treat a sharp s as ss, but utf8mb4_general_ci treats it as s.
  return letters.replace(/SS+/g, 'S')
}

function lettersOf(email: string): string {
  const equal = equalLetters()
  let letters = ''
  for (const letter of email.normalize('NFKD').toUpperCase()) {
    letters += PLAIN.test(letter) ? letter : (equal.get(letter) ?? (isOmitted(letter) ? '' : letter))
    // The cut bounds the work, because NFKD makes 18 letters of U+FDFA.
    if (letters.length >= LONGEST_EMAIL) break
  }
  return letters.slice(0, LONGEST_EMAIL)
}

/** Caches for each character whether it is omitted (2) or not (1), because the expression takes longer than all other work for a letter. */
let known: Uint8Array | undefined

function isOmitted(letter: string): boolean {
  if (letter.length > 1) return true
  known ??= new Uint8Array(0x10000)
  const code = letter.charCodeAt(0)
  known[code] ||= OMITTED.test(letter) ? 2 : 1
  return known[code] === 2
}
