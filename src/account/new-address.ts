/**
 * Blanks, controls, and what separates, quotes or encodes addresses (RFC 2047 section 2). A mailer sends a text with a comma to two addresses.
 */
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\p{Zs},;:<>"()[\]\\]|=\?/u

/** Returns whether a text may be the address of a new mail. Only the code of the mail proves that the mailbox exists. */
export function isNewAddress(text: string): boolean {
  // Before the rest, because a text may be as long as the body.
  if (text.length < 3 || text.length > 254 || FORBIDDEN.test(text)) return false
  const [local, domain, ...others] = text.split('@')
  return Boolean(local && domain) && others.length === 0
}
