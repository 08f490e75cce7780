import { hash } from 'node:crypto'
import { AuthError } from '../errors/auth-error.js'
import type { LimitName } from '../errors/codes.js'
import { clientNetwork } from '../http/client-network.js'
import { accountKey } from './account-key.js'
import { countFailure, createLimit, type Limit } from './limit.js'
import type { Entered } from './shared-limit.js'
import type { StoreFailed } from './shared-store.js'
import type { SprayLimit } from './spraying.js'

/**
 * The outcome of an attempt. `not_checked`: the password was not checked, for example because a dependency failed. `disconnected`: the client
 * has disconnected before its password was checked.
 */
export type AttemptOutcome = 'succeeded' | 'failed' | 'not_checked' | 'disconnected'

/**
 * One login at all limits.
 * @inline
 */
export interface Attempt {
  /**
   * Refuses a login whose limit is known to be reached, unless the account was reset in another process. Counts nothing.
   * @throws AuthError `too_many_attempts`
   */
  check(): void | Promise<void>
  /**
   * Begins the attempt in this process, or returns true when it has begun. Returns false, and counts nothing, when attempts under way leave
   * no room.
   * @throws AuthError `too_many_attempts`, or `overloaded` when the client's network has disconnected during too many logins
   */
  begin(): boolean
  /**
   * Counts the attempt for all processes.
   * @throws AuthError `too_many_attempts`, or `overloaded` when attempts under way in all processes leave no room; the attempt has
   * then ended
   */
  count(): void | Promise<void>
  /** Ends the attempt. Only `'failed'` makes it a failure of the limits: wait for the result, then send the response. */
  end(outcome: AttemptOutcome): void | Promise<void>
}

/**
 * The logins of one client network that may end in a second because the client has disconnected. Each may have cost a look-up, and none
 * is a failed login, so without this limit a client could cause any number of look-ups.
 */
const DISCONNECTS = { points: 200, duration: 1 }

const digestOf = (text: string) => hash('sha256', text, 'base64url').slice(0, 22)

/**
 * Returns a function that makes the key of each limit. The keys hold no address in clear text, because a shared store must not list
 * e-mail addresses. The key of a pair begins with the key of its account. The key of the account is made when it is first needed, so a
 * client address that has reached its own limit costs no normalisation of the e-mail address.
 */
export function throttleKeys(email: string, address: string | undefined) {
  const network = digestOf(clientNetwork(address))
  let account: string | undefined

  return function keyOf(name: LimitName): string {
    if (name !== 'account' && name !== 'pair') return network
    account ??= digestOf(accountKey(email))
    return name === 'pair' ? account + network : account
  }
}

/** Creates attempts at all limits together. An attempt that one limit refuses counts nowhere. */
export function createAttempts(limits: readonly Limit[], spray: SprayLimit | undefined) {
  const byAddress = limits.filter(({ name }) => name === 'address')
  const disconnects = createLimit('address', DISCONNECTS)
  const needsCount = spray !== undefined || limits.some(({ shared }) => shared !== undefined)

  function assertNotReached(checked: readonly Limit[], keyOf: (name: LimitName) => string): void {
    for (const limit of checked) {
      const refusal = limit.reached(keyOf(limit.name))
      if (refusal) throw refusal
    }
  }

  function assertFewDisconnects(keyOf: (name: LimitName) => string): void {
    if (disconnects.reached(keyOf(disconnects.name))) throw new AuthError('overloaded')
  }

  const withSpray = spray ? [...limits, spray.networks] : limits
  const limitsOf = (digest: string | undefined) => (spray?.isSprayed(digest) ? withSpray : limits)

  function attempt(email: string, address: string | undefined, storeFailed: StoreFailed, digest?: string): Attempt {
    const keyOf = throttleKeys(email, address)
    /** The limits at which the attempt is under way, and those at which the store knows of it. */
    const begun = new Set<Limit>()
    const entered = new Map<Limit, Entered>()
    let hasBegun = false
    let hasEnded = false

    /** Returns whether a process has reset the account since its failures in memory began, and then forgets them. */
    async function wasReset(limit: Limit, place: 'memory' | 'store'): Promise<boolean> {
      const rest = limit.isOfAccount && (await limit.shared?.sinceReset(keyOf('account'), storeFailed))
      return rest ? limit.forgetOlder(keyOf(limit.name), rest, place) : false
    }

    async function check(): Promise<void> {
      for (const limit of limitsOf(digest)) {
        const refusal = limit.reached(keyOf(limit.name))
        if (refusal && !(await wasReset(limit, 'memory'))) throw refusal
      }
    }

    /** Leaves no limit begun where one has no room, because the attempt waits. */
    function beginAt(added: readonly Limit[]): boolean {
      assertNotReached(added, keyOf)
      const hasRoom = !hasEnded && added.every((limit) => limit.begin(keyOf(limit.name)) && begun.add(limit))
      if (!hasRoom) leave()
      return hasRoom
    }

    function begin(): boolean {
      if (hasBegun) return true
      assertFewDisconnects(keyOf)
      hasBegun = beginAt(limitsOf(digest))
      return hasBegun
    }

    /** Returns the limits at which the attempt was under way. */
    function leave(): Limit[] {
      const left = [...begun]
      for (const limit of left) limit.end(keyOf(limit.name))
      begun.clear()
      return left
    }

    async function end(outcome: AttemptOutcome): Promise<void> {
      const isNewGuess = outcome === 'failed' && !hasEnded && spray !== undefined && !begun.has(spray.networks)
      hasEnded = true
      const left = leave()
      if (outcome === 'disconnected' && left.length > 0) disconnects.fail(keyOf(disconnects.name))
      const counting: Promise<unknown>[] = []
      for (const limit of outcome === 'failed' ? left : []) {
        counting.push(countFailure(limit, keyOf(limit.name), storeFailed, entered.get(limit)))
        entered.delete(limit)
      }
      for (const one of entered.values()) one.leave()
      entered.clear()
      if (isNewGuess) counting.push(spray.fail(digest, keyOf, storeFailed))
      await Promise.all(counting)
    }

    /** Counts the attempt in the store, at one limit. Returns the refusal. */
    async function enter(limit: Limit): Promise<AuthError | undefined> {
      const { name, shared } = limit
      if (!shared) return undefined
      const key = keyOf(name)
      const one = await shared.enter(key, storeFailed)
      if (one) entered.set(limit, one)
      const underWay = one?.underWay
      const refusal = limit.learn(key, await shared.read(key, storeFailed), underWay)
      if (refusal?.code !== 'too_many_attempts' || !(await wasReset(limit, 'store'))) return refusal
      return (await shared.remove(key, storeFailed)) ? limit.learn(key, undefined, underWay) : refusal
    }

    async function count(): Promise<void> {
      if (!needsCount) return
      try {
        if (spray && !begun.has(spray.networks) && (await spray.learn(digest, storeFailed))) {
          if (!beginAt([spray.networks])) throw new AuthError('overloaded')
        }
        const refusals = await Promise.all([...begun].map(enter))
        const refusal = refusals.find((one) => one?.code === 'too_many_attempts') ?? refusals.find(Boolean)
        if (refusal) throw refusal
      } catch (error) {
        void end('not_checked')
        throw error
      }
    }

    return { check, begin, count, end }
  }

  function checkAddress(address: string | undefined): void {
    const keyOf = throttleKeys('', address)
    assertNotReached(byAddress, keyOf)
    assertFewDisconnects(keyOf)
  }

  /** Forgets the failures in memory before those in the store, so that this process never refuses because the store has failed. */
  async function reset(email: string): Promise<void> {
    const account = throttleKeys(email, undefined)('account')
    const forgotten = limits
      .filter((limit) => limit.isOfAccount)
      .map((limit) => ({ limit, keys: limit.forget(account) }))
    await Promise.all(forgotten.map(({ limit, keys }) => limit.shared?.reset(account, keys)))
  }

  return { checkAddress, attempt, reset }
}
