/** The claims of a token, to show them. Only the server can verify them. */
export type Claims = Readonly<Record<string, unknown>>

/** Returns the claims of a JWT (RFC 7519 section 3), and no claims for other text. */
export function claimsOf(token: string): Claims {
  try {
    return { ...(JSON.parse(fromBase64url(token.split('.')[1] ?? '')) as Claims) }
  } catch {
    return {}
  }
}

/** Decodes base64url (RFC 4648 section 5). */
function fromBase64url(text: string): string {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))
}

const MEANINGS = new Map(
  Object.entries({
    sub: 'Account',
    scope: 'May do',
    iss: 'Issued by',
    aud: 'Meant for',
    client_id: 'Issued to',
    iat: 'Issued at',
    nbf: 'Valid from',
    exp: 'Expires at',
    jti: 'Token number',
    sid: 'Session',
    auth_time: 'Signed in at',
    amr: 'Signed in by',
  }),
)

const TIMES = new Set(['iat', 'nbf', 'exp', 'auth_time'])

export interface ClaimRow {
  name: string
  /** The meaning of a known claim. */
  meaning: string | undefined
  text: string
}

/** Returns a row for each claim, known claims first. Adds a row for a missing scope. */
export function claimRows(claims: Claims): ClaimRow[] {
  const all: Claims = { scope: '(nothing)', ...claims }
  const names = [...[...MEANINGS.keys()].filter((name) => Object.hasOwn(all, name)), ...Object.keys(all)]
  return [...new Set(names)].map((name) => ({ name, meaning: MEANINGS.get(name), text: textOf(name, all[name]) }))
}

function textOf(name: string, value: unknown): string {
  const time = new Date(TIMES.has(name) && typeof value === 'number' ? value * 1000 : Number.NaN)
  if (!Number.isNaN(time.getTime())) return time.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}
