import { AuthError, isAuthError } from '../errors/auth-error.js'
import type { AuthErrorCode, Dependency, HookOption } from '../errors/codes.js'
import { refusalOfHost } from '../errors/sign-in-refusal.js'
import { duration } from '../options/checks.js'
import { withoutSecrets } from '../options/misuse.js'
import { optional } from '../options/read-options.js'

/** The `timeout` option: how long a call of a host's function may take. Default 5 s. */
export const timeoutOption = optional(duration(1, 60_000), 5000)

interface HostCallOptions {
  /** The time limit, in milliseconds. Default: none, for a function that has its own. */
  timeout?: number | undefined
  /** Codes of this package's own refusals that the function may reject with. Such a refusal is passed on unchanged. */
  passThrough?: readonly AuthErrorCode[]
  /** Passes on a `SignInRefusal`, and an error of the host that a client may see. */
  mayRefuse?: boolean
  /** The account, the issuer or the option that the call is about, for the event of a failure. */
  about?: { accountId?: string; issuer?: string; option?: HookOption } | undefined
}

/**
 * Calls a function of the host and returns its result.
 * @throws AuthError `unavailable`, with the dependency and the cause, when the function throws, rejects or takes too long
 */
export async function callHost<T>(
  dependency: Dependency,
  fn: () => T | PromiseLike<T>,
  options: HostCallOptions = {},
): Promise<T> {
  const { timeout, passThrough, mayRefuse, about } = options
  try {
    return await withDeadline(timeout, fn())
  } catch (cause) {
    if (isAuthError(cause) && passThrough?.some((code) => code === cause.code)) throw cause
    const refusal = mayRefuse && refusalOfHost(cause)
    throw refusal || new AuthError('unavailable', { dependency, cause, ...about })
  }
}

class Timeout extends Error {}

/** Returns whether a call of the host has exceeded its time limit. */
export const isTimeout = (cause: unknown): boolean => cause instanceof Timeout

/** The number of time limits after which a call of the host counts as one that never ends. */
export const MOST_TIMEOUTS = 12

/**
 * Waits for a result. A result that comes after the time limit is dropped.
 * @throws Error after the time limit; what the promise rejects with
 */
export async function withDeadline<T>(timeout: number | undefined, result: T | PromiseLike<T>): Promise<T> {
  if (timeout === undefined) return result
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(withoutSecrets(new Timeout(`no result within ${timeout} ms`))), timeout)
  })
  try {
    return await Promise.race([result, ended])
  } catch (error) {
    Promise.resolve(result).catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
  }
}
