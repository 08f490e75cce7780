import { hasSecret, secretPieces } from './secret-pieces.js'

/** A token, or a piece of one: `{"` in base64url, and what follows it. */
const JWT = /eyJ[\w.~+/=-]*/g

/** How many characters are looked through. Longer text is withheld: cut off, it could end within a secret. */
const READ = 8000

/** How many characters are printed. */
const PRINTED = 400

/** Printed instead of text that holds a secret. */
export const WITHHELD = 'not shown: it contains a password or a token, in whole or in part, perhaps encoded'
export const TOO_LONG = `not shown: it is longer than ${READ} characters`

/**
 * Returns a function that makes text fit to be printed. The text may hold what a server said: it is withheld when it contains a
 * secret in any encoding, and control characters and tokens are replaced.
 * @param secrets returns what must not be shown; asked each time, because a check learns of tokens as it goes on
 */
export function createRedact(secrets: () => readonly string[]): (text: string) => string {
  return (text) => {
    if (text.length > READ) return TOO_LONG
    const hidden = text.replace(JWT, '…')
    const pieces = secretPieces(secrets())
    // A password may hold what looks like a token, so both are looked through.
    if (hasSecret(text, pieces) || hasSecret(hidden, pieces, /eyJ[\w-]{5}/)) return WITHHELD
    const shown = hidden.replace(/[\p{Cc}\p{Cf}]/gu, '?')
    return shown.length > PRINTED ? `${shown.slice(0, PRINTED)}…` : shown
  }
}
