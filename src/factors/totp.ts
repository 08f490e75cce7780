import { createHmac, timingSafeEqual } from 'node:crypto'
import { toBase32 } from './base32.js'

/** The length of a step in milliseconds (RFC 6238 section 4.1). */
const STEP_MS = 30_000
const DIGITS = 6

/** The steps around the current one whose codes are accepted, because the clocks of phones drift (RFC 6238 section 5.2). */
const DRIFT = [0, -1, 1] as const

export const stepAt = (now: number): number => Math.floor(now / STEP_MS)

/** Returns the code of a step: HOTP with HMAC-SHA-1 (RFC 4226 section 5.3), which all authenticator apps have. */
export function totpAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const offset = (digest.at(-1) as number) & 0xf
  const number = digest.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** Returns whether a text has the form of a code, and is not a recovery code. Apps show a code in two groups. */
export const isTotp = (text: string): boolean => /^\d{6}$/.test(compact(text))

const compact = (text: string) => text.replaceAll(' ', '')

/**
 * Returns the step of a code, if it is later than the last one that was used: each code works once (RFC 6238 section 5.2).
 * @param now the time in milliseconds
 */
export function matchingStep(secret: Uint8Array, code: string, now: number, lastStep: number): number | undefined {
  if (!isTotp(code)) return undefined
  const given = Buffer.from(compact(code))
  const steps = DRIFT.map((drift) => stepAt(now) + drift)
  // All of them, so that the time does not tell which one matches.
  const matching = steps.filter((step) => timingSafeEqual(Buffer.from(totpAt(secret, step)), given))
  return matching.find((step) => step > lastStep)
}

/** Returns the URI for the QR code of an authenticator app (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
export function otpauthUri(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
}
