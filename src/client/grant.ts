import { isText } from './read.js'

/** A token, as the token endpoint has issued it. */
export interface Grant {
  /** The bearer token. */
  readonly token: string
  /** Milliseconds from the response to the expiration. */
  readonly lifetime: number
  /** The expiration by this machine's clock, in milliseconds since 1970. */
  readonly expiresAt: number
  /** The error of the app's storage, when it did not save the refresh token. */
  readonly error?: Error
}

/** Returns whether a value is a bearer token (RFC 6750 section 2.1). */
export const isToken = (value: unknown): value is string => isText(value) && /^[\w.~+/-]+=*$/.test(value)
