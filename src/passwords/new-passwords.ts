import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import { misuse, PAGE } from '../options/misuse.js'
import { isCommon } from './common-passwords.js'
import type { ForbiddenCheck } from './passwords-options.js'

/** The most characters of a new password, so that nobody keeps a thread busy with a long one. */
const MOST_CHARACTERS = 256

/** The time limit for `isForbidden`, in milliseconds. */
const FORBIDDEN_TIMEOUT = 5000

const TOO_LONG = `This password cannot be used. Choose a password of at most ${MOST_CHARACTERS} characters.`

/**
 * @throws AuthError `weak_password` when `isForbidden` says so, `unavailable` when it fails
 * @throws SignInRefusal of `isForbidden`
 */
export async function assertAllowed(isForbidden: ForbiddenCheck, password: string): Promise<void> {
  const ask = async () => {
    const forbidden: unknown = await isForbidden(password)
    if (typeof forbidden === 'boolean') return forbidden
    throw misuse('passwords: isForbidden must return true or false', PAGE.hashes)
  }
  const options = { timeout: FORBIDDEN_TIMEOUT, mayRefuse: true }
  if (await callHost('passwords', ask, options)) throw new AuthError('weak_password', { reason: 'forbidden' })
}

/**
 * Checks the length of a new password, and whether it is a common one. A long text costs nothing.
 * @throws AuthError `weak_password` with the reason
 */
export function assertUncommon(password: string, minLength: number): void {
  const length = charactersOf(password)
  if (length < minLength) {
    const message = `This password is too short. Choose one of at least ${minLength} characters.`
    throw new AuthError('weak_password', { reason: 'too_short', message })
  }
  if (length > MOST_CHARACTERS) throw new AuthError('weak_password', { reason: 'too_long', message: TOO_LONG })
  if (isCommon(password)) throw new AuthError('weak_password', { reason: 'common' })
}

/** Returns the number of code points. A text that has too many in any case is not read. */
function charactersOf(password: string): number {
  // A code point has one or two units.
  return password.length > 2 * MOST_CHARACTERS ? password.length : [...password].length
}
