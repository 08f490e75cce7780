import { type Claims, claimsOf } from './claims.js'

/** A time between sign-in and sign-out. It alone knows the token, and shows it to nobody. */
export interface Session {
  readonly email: string
  readonly claims: Claims
  /** The end, by the server's clock: ISO 8601. */
  readonly expiration: string
  readonly lifetimeMs: number
  /** The end, by this machine's clock in milliseconds, which may be hours off the server's. */
  readonly endsAt: number
  /** Aborted when it is over. */
  readonly signal: AbortSignal
  /** What a guarded call carries. */
  headers(): Record<string, string>
  /** Forgets the token. */
  close(): void
}

/** The token call's answer. */
export interface TokenAnswer {
  authenticationToken: string
  expiration: string
}

/** @throws TypeError when the answer is not one that can be counted down */
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
