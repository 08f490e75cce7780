import { randomUUID } from 'node:crypto'

/** A UUID of version 7 in the spelling that `createTokenId` writes (RFC 9562 sections 4 and 5.7). */
const UUID_V7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/**
 * Creates the `jti` of a token: a UUID of version 7 (RFC 9562 section 5.7), which holds the time of issue in milliseconds. `iat` stays in whole
 * seconds, because many verifiers accept no fraction. 74 bits are random.
 */
export function createTokenId(time: number): string {
  // Two halves, because Node converts integers of 32 bits much faster.
  const high = Math.floor(time / 0x10000).toString(16)
  const low = (time % 0x10000).toString(16)
  return `${high.padStart(8, '0')}-${low.padStart(4, '0')}-7${randomUUID().slice(15)}`
}

/**
 * Returns the time of issue in milliseconds. A `jti` that is not ours, or contradicts `iat`, counts as the start of the second: a guard must
 * rather refuse a new token than admit an old one.
 */
export function timeOfIssue(jti: string, iat: number): number {
  const time = UUID_V7.test(jti) ? Number.parseInt(jti.slice(0, 8) + jti.slice(9, 13), 16) : Number.NaN
  return Math.floor(time / 1000) === iat ? time : iat * 1000
}
