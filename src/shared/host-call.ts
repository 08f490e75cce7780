import { AuthError, type AuthErrorCode, type Dependency, isAuthError } from './errors.js'
import { withoutSecrets } from './host/describe-error.js'
import { duration, optional } from './options.js'
import { bare } from './values.js'

/** The `timeout` option: how long a call of a host's function may take. Default 5 s. */
export const timeoutOption = optional(duration(1, 60_000), 5000)

interface HostCallOptions {
  /** The time limit, in milliseconds. Default: none, for a function that has its own. */
  timeout?: number | undefined
  /** Ends the wait when it is aborted, because the client has disconnected. */
  signal?: AbortSignal | undefined
  /** Codes of this package's own refusals that the function may reject with. Such a refusal is passed on unchanged. */
  passThrough?: readonly AuthErrorCode[]
}

interface LateResult<T> {
  /** Called with a result that comes after the wait has ended, to release what it holds. */
  late?: ((result: T) => void) | undefined
}

/**
 * Calls a function of the host and returns its result.
 * @throws AuthError `unavailable`, with the dependency and the cause, when the function throws, rejects or takes too long;
 * `client_closed_request` when the signal is aborted
 */
export async function callHost<T>(
  dependency: Dependency,
  fn: () => T | PromiseLike<T>,
  options: HostCallOptions & LateResult<T> = {},
): Promise<T> {
  const { timeout, signal, passThrough = [], late } = bare(options)
  try {
    return await withDeadline(timeout, fn, { signal, late })
  } catch (cause) {
    if (signal?.aborted) throw new AuthError('client_closed_request')
    if (isAuthError(cause) && passThrough.includes(cause.code)) throw cause
    throw new AuthError('unavailable', { dependency, cause })
  }
}

const NOTHING = bare({})

/**
 * Runs a function and returns its result. A result that comes after the time limit, or after an abort, is dropped.
 * @throws Error after the time limit or an abort; what the function throws
 */
export async function withDeadline<T>(
  timeout: number | undefined,
  fn: () => T | PromiseLike<T>,
  { signal, late }: Pick<HostCallOptions, 'signal'> & LateResult<T> = NOTHING,
): Promise<T> {
  const result = fn()
  if (timeout === undefined && !signal) return result
  let end: (reason: Error) => void = () => {}
  const ended = new Promise<never>((_, reject) => {
    end = reject
  })
  ended.catch(() => {})
  const abort = () => end(new Error('aborted'))
  let timer: NodeJS.Timeout | undefined
  try {
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    if (timeout !== undefined)
      timer = setTimeout(() => end(withoutSecrets(new Error(`no result within ${timeout} ms`))), timeout)
    return await Promise.race([result, ended])
  } catch (error) {
    Promise.resolve(result).then(late, () => {})
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
