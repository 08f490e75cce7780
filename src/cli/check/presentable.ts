/** A token, or a piece of one: `{"` in base64url, and what follows it. */
const JWT = /eyJ[\w.~+/=-]*/g

const LONGEST = 400

/**
 * Makes text that may hold an answer's own words fit to be printed: it shows no secret, and gives the terminal no orders.
 * @param secrets are not shown, nor as JSON, a part of a URL or base64 spells them; empty ones are none
 */
export function presenter(secrets: readonly string[]): (text: string) => string {
  const spellings = secrets.filter((secret) => secret !== '').flatMap(spellingsOf)
  // One may be a piece of another.
  spellings.sort((a, b) => b.length - a.length)
  return (text) => {
    const known = spellings.reduce((shown, spelling) => shown.replaceAll(spelling, '…'), text)
    const hidden = known.replace(JWT, '…').replace(/[\p{Cc}\p{Cf}]/gu, '?')
    return hidden.length > LONGEST ? `${hidden.slice(0, LONGEST)}…` : hidden
  }
}

function spellingsOf(secret: string): string[] {
  const well = secret.toWellFormed()
  const bytes = Buffer.from(secret)
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(well),
    new URLSearchParams({ '': well }).toString().slice(1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ]
}
