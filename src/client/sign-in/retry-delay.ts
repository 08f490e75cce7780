/** The longest `Retry-After` that the client follows. Most failed-login limits block for at most one hour. */
const LONGEST_RETRY_AFTER = 3_600_000

/** Delays without `Retry-After`. */
const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 20_000

/** Returns a random delay up to a limit that doubles with each failure (full jitter). */
export const backoff = (failures: number) => Math.random() * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** failures)

/**
 * Reads `Retry-After` (RFC 9110 section 10.2.3) as milliseconds, at most one hour.
 * @param now the current time by the server's clock, for a date
 * @returns 0 without a time in the future
 */
export function retryAfter(value: string | null, now: number): number {
  const text = String(value)
  const ms = Number.parseInt(text, 10) * 1000 || Date.parse(text) - now
  // A random part, because many clients may have been sent away in the same second.
  return ms > 0 ? Math.min(ms, LONGEST_RETRY_AFTER) + Math.random() * 1000 : 0
}
