import { hkdfSync } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import { type Check, InvalidOption } from './read-options.js'

/** A secret as text (in UTF-8) or bytes, of at least 32 bytes. */
export type Secret = string | Uint8Array

/** The purposes of the keys of a secret. */
type Purpose = 'access token' | 'refresh token 2' | 'ticket'

/** Returns the key of a secret for one purpose and one issuer (RFC 5869 section 3.2), so that no key works for another one. */
export const keyFor = (secret: Uint8Array, purpose: Purpose, issuer: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify(['express-token-endpoint', purpose, issuer]), 32))

const SHORTEST = 32

/** Reads a secret or a list of secrets. */
export const secretList: Check<readonly Uint8Array[]> = (value) => {
  const list: unknown[] = Array.isArray(value) ? [...value] : [value]
  const read = list.map((one) => (typeof one === 'string' ? Buffer.from(one) : one))
  const short = read.findIndex((one) => !isUint8Array(one) || one.length < SHORTEST)
  if (read.length > 0 && short < 0) {
    return read.map((one) => Uint8Array.from(one as Uint8Array))
  }
  throw new InvalidOption(
    `a secret of at least ${SHORTEST} bytes, or a list of secrets`,
    `${read.length > 1 ? `Number ${short + 1} of the list is too short. ` : ''}Create a secret with: npx express-token-endpoint keygen --alg HS256`,
  )
}
