import { isUint8Array } from 'node:util/types'
import { type Check, InvalidOption } from './read-options.js'

/** A secret as text (in UTF-8) or bytes, of at least 32 bytes. */
export type Secret = string | Uint8Array

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
