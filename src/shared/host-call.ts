import { AuthError, type AuthErrorCode, type Dependency, isAuthError } from './errors.js'
import { duration, optional } from './options.js'
import { isThenable } from './values.js'

/** The `timeout` option: the longest time that a dependency may take. Default 5 s. From 1 ms to 1 min. */
export const timeoutOption = optional(duration(1, 60_000), 5000)

/**
 * Calls a dependency and stops waiting after a timeout. Ignores a later result.
 * @param ours codes of this package's refusals that the call may throw; they pass unchanged
 * @throws AuthError `unavailable`, with the dependency's name and the cause, when the call throws, rejects or takes too long
 */
export function ask<T>(
  dependency: Dependency,
  timeoutMs: number,
  question: () => T | PromiseLike<T>,
  ours?: readonly AuthErrorCode[],
): Promise<T> {
  return blame(dependency, () => within(timeoutMs, question), ours)
}

/** Calls a dependency that has its own deadline. Reports failures like {@link ask}. */
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
 * Waits for a result, at most for a timeout.
 * @throws Error after the timeout
 */
export async function within<T>(timeoutMs: number | undefined, question: () => T | PromiseLike<T>): Promise<T> {
  const answer = question()
  if (timeoutMs === undefined || !isThenable(answer)) return answer
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
  })
  return Promise.race([answer, deadline]).finally(() => clearTimeout(timer))
}
