import { AuthError, isAuthError } from '../../shared/errors.js'
import type { KeySource } from './key-ring.js'

/** Verifies with the keys that are here; undefined where the key is not among them, and may have come to where they are from. */
export function withoutRenewal<T extends object>(keys: KeySource, verify: () => T): T | undefined {
  try {
    return verify()
  } catch (error) {
    if (keys.renew && isUnknownKey(error)) return undefined
    throw error
  }
}

/**
 * Verifies; and once more, where the key was not known and may have come meanwhile.
 * @throws AuthError `unavailable` when there is no telling whether there is such a key; what `verify` throws otherwise
 */
export async function withRenewal<T extends object>(keys: KeySource, verify: () => T): Promise<T> {
  const verified = withoutRenewal(keys, verify)
  if (verified) return verified
  const failure = await keys.renew?.()
  try {
    return verify()
  } catch (error) {
    throw failure && isUnknownKey(error) ? new AuthError('unavailable', { dependency: 'keys', cause: failure }) : error
  }
}

function isUnknownKey(error: unknown): boolean {
  return isAuthError(error) && error.reason === 'unknown_key'
}
