/** A token, as the token endpoint has issued it. */
export interface Grant {
  /** The bearer token. */
  readonly token: string
  /** Milliseconds from the response to the expiration. */
  readonly lifetime: number
  /** The time of the response by this machine's clock. */
  readonly receivedAt: number
}

/** Returns whether a value is a bearer token (RFC 6750 section 2.1). */
export const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\w.~+/-]+=*$/.test(value)
