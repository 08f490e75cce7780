import { AuthError, type LimitName } from '../../shared/errors.js'
import { tell } from '../../shared/events.js'
import type { Limit, LimitAttempt } from './limit.js'
import type { StoreFailed } from './shared-store.js'
import type { SprayLimit } from './spraying.js'
import { type KeyOf, throttleKeys } from './throttle-keys.js'

/**
 * One counted attempt.
 * @inline
 */
export interface Spent {
  /** Takes the attempt back. It stays a failure of the limit that is named. */
  giveBack(except?: 'address'): void
  /** Called when the login failed, before its response. */
  failed?: (() => void | Promise<void>) | undefined
}

/**
 * One login at all limits.
 * @inline
 */
export interface Attempt extends Spent {
  /**
   * Refuses a login whose limit is known to be reached. Counts nothing.
   * @throws AuthError `too_many_attempts`
   */
  check(): void
  /**
   * Begins the attempt in this process. Returns false, and counts nothing, when attempts under way leave no room.
   * @throws AuthError `too_many_attempts`
   */
  begin(): boolean
  /**
   * Counts the attempt for all processes.
   * @throws AuthError `too_many_attempts`, or `overloaded` when attempts under way in all processes leave no room
   */
  count(): Promise<void>
}

interface Attempts {
  checkAddress(address: string | undefined): void
  attempt(email: string, address: string | undefined, storeFailed: StoreFailed, digest?: string): Attempt
}

/** Creates attempts at all limits together. An attempt that one limit refuses counts nowhere. */
export function createAttempts(limits: readonly Limit[], spray: SprayLimit | undefined): Attempts {
  function refuse(reached: readonly Limit[], keyOf: KeyOf): void {
    for (const limit of reached) {
      const refusal = limit.reached(keyOf(limit.name))
      if (refusal) throw refusal
    }
  }

  return {
    checkAddress(address) {
      const byAddress = limits.filter(({ name }) => name === 'address')
      refuse(byAddress, throttleKeys('', address))
    },
    attempt(email, address, storeFailed, digest) {
      const keyOf = throttleKeys(email, address)
      const begun: LimitAttempt[] = []
      const end = (some: readonly LimitAttempt[], failed: (name: LimitName) => boolean) =>
        Promise.all(some.map((one) => one.end(failed(one.name), storeFailed)))
      const giveBack = (except?: LimitName, some = begun) => tell(() => end(some, (name) => name === except), undefined)
      const isSprayed = () => spray && digest !== undefined && spray.isSprayed(digest)
      /** Returns the limits of the login, as far as memory knows its password. */
      const known = () => (spray && isSprayed() ? [...limits, spray.networks] : limits)

      function enter(added: readonly Limit[]): boolean {
        refuse(added, keyOf)
        const entered: LimitAttempt[] = []
        for (const limit of added) {
          const one = limit.begin(keyOf(limit.name))
          if (!one) {
            giveBack(undefined, entered)
            return false
          }
          entered.push(one)
        }
        begun.push(...entered)
        return true
      }

      return {
        check: () => refuse(known(), keyOf),
        begin: () => enter(known()),
        giveBack: (except) => giveBack(except),
        async count() {
          const isCounted = begun.some(({ name }) => name === 'spraying')
          if (spray && digest !== undefined && !isCounted && (await spray.learn(digest, storeFailed))) {
            if (!enter([spray.networks])) throw new AuthError('overloaded')
          }
          const refusals = await Promise.all(begun.map((one) => one.count(storeFailed)))
          const refusal = refusals.find((one) => one?.code === 'too_many_attempts') ?? refusals.find(Boolean)
          if (refusal) throw refusal
        },
        async failed() {
          const counted = end(begun, () => true)
          const isCounted = begun.some(({ name }) => name === 'spraying')
          if (spray && digest !== undefined && !isCounted) {
            await spray.failed(digest, keyOf('account'), keyOf('address'), storeFailed)
          }
          await counted
        },
      }
    },
  }
}
