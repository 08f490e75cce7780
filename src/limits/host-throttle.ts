import { memberOf } from '../options/values.js'
import type { Attempt, AttemptOutcome } from './attempt.js'
import type { Throttle } from './throttle.js'

/** One counted attempt of a custom throttle. */
export interface ConsumedAttempt {
  /** Called once, when the login has ended. After `'failed'`, the response waits for the result. */
  end(outcome: AttemptOutcome): void | Promise<void>
}

/** Custom failed-login limits: the smallest object that works. */
export interface CustomThrottle {
  /** Refuses a client whose address has reached its limit, before the body of the request is read. Default: no check. */
  checkAddress?: Throttle['checkAddress'] | undefined
  /** Returns a keyed digest of the password for `check` and `consume`. Default: the throttle receives nothing of the password. */
  digestPassword?: Throttle['digestPassword']
  /** Lifts the limits of an account. This package never calls it. */
  reset?: Throttle['reset'] | undefined
  /**
   * Refuses a login whose limit is known to be reached, before the login waits in the queue. Counts nothing.
   * @throws AuthError `too_many_attempts`
   */
  check?(email: string, address: string | undefined, passwordDigest?: string): void | Promise<void>
  /**
   * Counts an attempt, before the password is checked.
   * @throws AuthError `too_many_attempts`; the attempt is then not counted
   */
  consume(
    email: string,
    address: string | undefined,
    storeFailed: (error: unknown) => void,
    passwordDigest?: string,
  ): Promise<ConsumedAttempt>
}

/** The methods of a throttle that a login calls. */
export type ThrottlePort = Pick<Throttle, 'checkAddress' | 'digestPassword' | 'attempt'>

const hasAttempts = (throttle: object): throttle is Throttle => typeof memberOf(throttle, 'attempt') === 'function'

/** Returns a throttle as a login calls it. */
export function throttleOf(throttle: Throttle | CustomThrottle): ThrottlePort {
  if (hasAttempts(throttle)) return throttle
  return {
    checkAddress: (address) => throttle.checkAddress?.(address),
    // Undefined stays undefined, because only a throttle with this method receives passwords.
    digestPassword: memberOf(throttle, 'digestPassword')
      ? (password) => throttle.digestPassword?.(password) as string
      : undefined,
    attempt: (...login) => attemptOf(throttle, login),
  }
}

function attemptOf(throttle: CustomThrottle, login: Parameters<Throttle['attempt']>): Attempt {
  const [email, address, , digest] = login
  let consumed: ConsumedAttempt | undefined
  return {
    check: () => throttle.check?.(email, address, digest),
    begin: () => true,
    async count() {
      consumed = await throttle.consume(...login)
    },
    end: (outcome) => consumed?.end(outcome),
  }
}

const UNLIMITED: Attempt = { check() {}, begin: () => true, count() {}, end() {} }

/** The throttle of a host that turns the limits off. */
export const NO_LIMITS: ThrottlePort = {
  checkAddress() {},
  digestPassword: undefined,
  attempt: () => UNLIMITED,
}
