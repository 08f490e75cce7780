import { AuthError, type AuthErrorCode, type Dependency, isAuthError } from './errors.js'
import { duration, optional } from './options.js'
import { isThenable } from './values.js'

/** The `timeout` option: how long the host's own parts may take. Five seconds unless set. */
export const timeoutOption = optional(duration(1, 60_000), 5000)

/**
 * Asks one of the host's parts, and gives it up after a time. A late answer is dropped; nothing is left pending.
 * @param ours refusals of this package's own that the question may end in; they are passed on as they are
 * @throws AuthError `unavailable`, with the part's name and the cause, when it throws, rejects or gives no answer in time
 */
export function ask<T>(
  dependency: Dependency,
  timeoutMs: number,
  question: () => T | PromiseLike<T>,
  ours?: readonly AuthErrorCode[],
): Promise<T> {
  return blame(dependency, () => within(timeoutMs, question), ours)
}

/** As {@link ask}, for a question that has a deadline of its own. */
export async function blame<T>(
  dependency: Dependency,
  question: () => T | PromiseLike<T>,
  ours: readonly AuthErrorCode[] = [],
): Promise<T> {
  try {
    return await question()
  } catch (cause) {
    if (isAuthError(cause) && ours.includes(cause.code)) throw cause
    throw new AuthError('unavailable', { dependency, cause })
  }
}

/**
 * An answer, if it comes in time.
 * @throws Error when it does not
 */
export async function within<T>(timeoutMs: number | undefined, question: () => T | PromiseLike<T>): Promise<T> {
  const answer = question()
  if (timeoutMs === undefined || !isThenable(answer)) return answer
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  return Promise.race([answer, deadline]).finally(() => clearTimeout(timer))
}
