import { addPieces, hasSecret, noPieces } from './secret-pieces.js'

/** A token, or a piece of a token: `{"` in base64url, and the text after it. */
const JWT = /eyJ[\w.~+/=-]*/g

/** The most characters that are searched. Longer text is withheld, because a cut could end within a secret. */
const READ = 8000

/** The most characters that are printed. */
const PRINTED = 400

/** The most characters of all secrets together. A server that sends more tokens would make each search slow. */
const SECRETS = 200_000

/** Printed instead of text that holds a secret. */
export const WITHHELD = 'not shown: it contains a password or a token, in whole or in part, perhaps encoded'
export const TOO_LONG = `not shown: it is longer than ${READ} characters`
export const TOO_MANY = `not shown: the tokens of the server have more than ${SECRETS} characters`

/**
 * Returns a function that makes text of a server safe to print. It withholds text that contains a secret in any encoding. It
 * replaces control characters, tokens, and the `##` of commands that CI systems read from a log (`##vso[…]`).
 * @param secrets returns the texts that must not be printed; called each time, because a check receives more tokens
 */
export function createRedact(secrets: () => readonly string[]): (text: string) => string {
  const pieces = noPieces()
  const known = new Set<string>()
  let length = 0
  return (text) => {
    for (const secret of secrets()) {
      if (known.has(secret)) continue
      known.add(secret)
      length += secret.length
      if (length <= SECRETS) addPieces(pieces, secret)
    }
    if (length > SECRETS) return TOO_MANY
    if (text.length > READ) return TOO_LONG
    const hidden = text.replace(JWT, '…')
    // A password may look like a token, so both texts are searched.
    if (hasSecret(text, pieces) || hasSecret(hidden, pieces, /eyJ[\w-]{5}/)) return WITHHELD
    const shown = hidden.replace(/[\p{Cc}\p{Cf}]|#(?=#)/gu, '?')
    return shown.length > PRINTED ? `${shown.slice(0, PRINTED)}…` : shown
  }
}
