import { AuthError, type AuthErrorCode, type Dependency } from './errors.js'
import { duration, optional } from './options.js'

/** The `timeout` option: how long the host's own parts may take. Five seconds unless set. */
export const timeoutOption = optional(duration(1, 60_000), 5000)

/**
 * Asks one of the host's parts, and gives it up after a time. A late answer is dropped; nothing is left pending.
 * @param question is given a signal that tells when it is given up
 * @param ours refusals of this package's own that the question may end in; they are passed on as they are
 * @throws AuthError `unavailable`, with the part's name and the cause, when it throws, rejects or gives no answer in time
 */
export async function ask<T>(
  dependency: Dependency,
  timeoutMs: number,
  question: (expired: AbortSignal) => T | PromiseLike<T>,
  ours: readonly AuthErrorCode[] = [],
): Promise<T> {
  const expiry = new AbortController()
  let timer: NodeJS.Timeout | undefined
  try {
    const answer = question(expiry.signal)
    if (!isThenable(answer)) return answer
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`${dependency}: no answer within ${timeoutMs} ms`))
        expiry.abort()
      }, timeoutMs)
    })
    return await Promise.race([answer, deadline])
  } catch (cause) {
    if (cause instanceof AuthError && ours.includes(cause.code)) throw cause
    throw new AuthError('unavailable', { dependency, cause })
  } finally {
    clearTimeout(timer)
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
