import { type Claims, claimsOf } from './token-claims.js'

/** A session from sign-in to sign-out. Only the session has the token, and it never shows the token. */
export interface Session {
  readonly email: string
  readonly claims: Claims
  /** The expiration by the server's clock, in ISO 8601. */
  readonly expiration: string
  readonly lifetimeMs: number
  /** The expiration by this machine's clock, in milliseconds. The server's clock may be hours off. */
  readonly endsAt: number
  /** Aborted at the end of the session. */
  readonly signal: AbortSignal
  /** Returns the headers for a guarded route. */
  headers(): Record<string, string>
  /** Ends the session and deletes the token. */
  close(): void
}

/** The response of the token endpoint. */
export interface TokenAnswer {
  authenticationToken: string
  expiration: string
}

/** @throws TypeError when the token has no readable expiration */
export function openSession(email: string, { authenticationToken, expiration }: TokenAnswer): Session {
  let token: string | undefined = authenticationToken
  const claims = claimsOf(authenticationToken)
  if (!claims) throw new TypeError('no readable token')
  const lifetimeMs = (claims.exp - claims.iat) * 1000
  const over = new AbortController()
  return {
    email,
    claims,
    expiration,
    lifetimeMs,
    endsAt: Date.now() + lifetimeMs,
    signal: over.signal,
    headers: () => ({ Authorization: `Bearer ${token}` }),
    close() {
      token = undefined
      over.abort()
    },
  }
}
