/** The longest e-mail address, in UTF-16 code units: 64 + 1 + 255 (RFC 5321 section 4.5.3.1). No account has a longer one. */
export const LONGEST_EMAIL = 320

/** The key of every text that is too long. Other keys have no space. */
const TOO_LONG = 'too long'

/** White space, and invisible, control and format characters. */
const INVISIBLE = /[\p{DI}\p{Cf}\p{Cc}\s]/gu

/**
 * Returns the key for the failed logins of an e-mail address, before its account is known. Spellings that only the account store treats
 * as the same address meet in the key of the account's id.
 */
export function accountKey(email: string): string {
  if (email.length > LONGEST_EMAIL) return TOO_LONG
  // Again, because the letters around an omitted character may compose.
  return email.normalize('NFKC').toLowerCase().replace(INVISIBLE, '').normalize('NFKC').slice(0, LONGEST_EMAIL)
}
