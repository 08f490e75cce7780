import jwt from 'jsonwebtoken'
import { AuthError, type TokenRefusal } from '../errors.js'
import { isPlainObject } from '../options.js'
import { type Expectation, readClaims, type VerifiedToken } from './claims.js'
import { readHeader } from './compact.js'
import { TYP } from './issue.js'
import type { KeySource, VerificationKey } from './keys.js'

/** A verified token, and what must still hold when it is met again. */
export interface Verification {
  readonly token: VerifiedToken
  /** The key that verified it. */
  readonly key: VerificationKey
  /** From when and until when it is good: milliseconds since the epoch, tolerance included. */
  readonly notBefore: number
  readonly notAfter: number
}

/**
 * Token text → verified token.
 * @throws AuthError `invalid_token`
 */
export function verifyToken(text: string, keys: KeySource, expected: Expectation): Verification {
  const key = keyOf(text, keys)
  const payload = checkSignature(text, key)
  const result = readClaims(payload, expected)
  if (typeof result === 'string') throw refusal(result, tokenIdOf(payload))
  return { key, ...result }
}

/** The key that the token names, if it is one of ours and the token is of the form that we issue. */
function keyOf(text: unknown, keys: KeySource): VerificationKey {
  const header = typeof text === 'string' ? readHeader(text) : undefined
  if (!header) throw refusal('malformed')
  if (header.critical) throw refusal('critical_header')
  if (header.typ !== TYP) throw refusal('type')
  const key = typeof header.kid === 'string' ? keys.find(header.kid) : undefined
  if (!key) throw refusal('unknown_key')
  if (header.alg !== key.alg) throw refusal('algorithm')
  return key
}

function checkSignature(text: string, { alg, key }: VerificationKey): unknown {
  try {
    // jsonwebtoken checks the signature; of the claims it lets too much pass, so readClaims holds them all.
    return jwt.verify(text, key, { algorithms: [alg], ignoreExpiration: true, ignoreNotBefore: true })
  } catch {
    throw refusal('signature')
  }
}

function tokenIdOf(payload: unknown): string | undefined {
  const id = isPlainObject(payload) ? payload['jti'] : undefined
  return typeof id === 'string' ? id : undefined
}

function refusal(reason: TokenRefusal, tokenId?: string): AuthError {
  return new AuthError('invalid_token', { reason, ...(tokenId !== undefined && { tokenId }) })
}
