import { hash } from 'node:crypto'
import { AuthError } from '../errors/auth-error.js'
import { clientNetwork } from '../http/client-network.js'
import { accountKey } from './account-key.js'
import { createLoginLimit, type Limit } from './limit.js'
import type { StoreFailed } from './shared-store.js'

/**
 * The outcome of an attempt. `not_checked`: the password was not checked, for example because a dependency failed. `disconnected`: the client
 * has disconnected before its password was checked.
 * @inline
 */
export type AttemptOutcome = 'succeeded' | 'failed' | 'not_checked' | 'disconnected'

/**
 * The decision about the password check. `waits`: failures in other processes leave no room, so the attempt has to begin again.
 * `refused`: only the limits of the account are used up, by guesses with other spellings of its address. Refuse the login like one with a
 * wrong password, after the same work.
 */
export type AttemptAdmission = 'admitted' | 'waits' | 'refused'

/** One login at all limits. */
export interface Attempt {
  /**
   * Refuses a login whose limit is reached. Counts nothing.
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
   * Reads what other processes have counted, also for the account that was looked up.
   * @throws AuthError `too_many_attempts`; the attempt has then ended
   */
  admit(accountId: string | undefined): AttemptAdmission | Promise<AttemptAdmission>
  /** Ends the attempt. Only `'failed'` makes it a failure of the limits: wait for the result, then send the response. */
  end(outcome: AttemptOutcome): void | Promise<void>
}

/** The client and the address of a login, and its tenant. */
export interface LoginSource {
  email: string
  address: string | undefined
  tenant?: string | undefined
  /** True for an account that is known without its address, whose tenant the client may have chosen. */
  isKnown?: boolean
}

/**
 * The account that `reset` takes.
 * @inline
 */
export interface ResetAccount {
  /** The account's id. */
  id: string
  /** The e-mail address. */
  email: string
  /** The tenant, as the option `tenant` returns it. Default: none. */
  tenant?: string | undefined
}

/**
 * The logins of one client network that may end in a second because the client has disconnected. Each may have cost a look-up, and none
 * is a failed login, so without this limit a client could cause any number of look-ups.
 */
const DISCONNECTS = { points: 200, duration: 1 }

// The keys hold no address in clear text, because a shared store must not list e-mail addresses.
const digestOf = (text: string) => hash('sha256', text, 'base64url').slice(0, 22)
const networkKey = (address: string | undefined) => digestOf(clientNetwork(address))
const emailKey = (email: string, tenant?: string) => digestOf(JSON.stringify(['email', tenant, accountKey(email)]))
const idKey = (id: string, tenant?: string) => digestOf(JSON.stringify(['id', tenant, id]))
/** The key of the missing account of an address. */
const noIdKey = (account: string) => digestOf(account)

/** A limit, and the key at which a login counts there. The key of a pair begins with that of its account. */
interface Place {
  limit: Limit
  key: string
  account?: string | undefined
  /** The key of the address, at a limit of the account. */
  spelling?: string
}

const endAt = ({ limit, key, spelling }: Place) => limit.end(key, spelling)

/** Creates attempts at all limits together. An attempt that one limit refuses counts nowhere. */
export function createAttempts(limits: readonly Limit[]) {
  const disconnects = createLoginLimit('address', DISCONNECTS)
  const isShared = limits.some(({ shared }) => shared !== undefined)

  const placesOf = (account: string, network: string): Place[] =>
    limits.map((limit) => {
      if (limit.name === 'pair') return { limit, key: account + network, account }
      return { limit, key: limit.name === 'account' ? account : network }
    })

  function assertNotReached(places: readonly Place[]): void {
    for (const { limit, key } of places) {
      const refusal = limit.reached(key)
      if (refusal) throw refusal
    }
  }

  function assertFewDisconnects(network: string): void {
    if (disconnects.reached(network)) throw new AuthError('overloaded')
  }

  const placesOfId = (id: string, network: string, spelling: string): Place[] =>
    placesOf(id, network).flatMap((place) => (place.limit.isOfAccount ? [{ ...place, spelling }] : []))

  function attempt({ email, address, tenant, isKnown }: LoginSource, storeFailed: StoreFailed): Attempt {
    const network = networkKey(address)
    const account = emailKey(email, tenant)
    const ofEmail = placesOf(account, network)
    let places: readonly Place[] = ofEmail
    /** The places at which the attempt is under way. */
    const begun = new Set<Place>()
    let isUnderWay = false
    let hasBegun = false
    let hasEnded = false

    const readAll = (from: readonly Place[]) =>
      Promise.all(from.map(({ limit, key, account }) => limit.read(key, account, storeFailed)))

    async function check(): Promise<void> {
      if (isShared) await readAll(ofEmail)
      assertNotReached(ofEmail)
    }

    /** Leaves none of the places begun where one has no room. */
    function beginAt(added: readonly Place[]): boolean {
      const entered: Place[] = []
      const hasRoom =
        !hasEnded && added.every((place) => place.limit.begin(place.key, place.spelling) && entered.push(place))
      for (const place of entered) {
        if (hasRoom) begun.add(place)
        else endAt(place)
      }
      return hasRoom
    }

    function begin(): boolean {
      if (isUnderWay) return true
      assertFewDisconnects(network)
      assertNotReached(ofEmail)
      isUnderWay = beginAt(ofEmail)
      hasBegun ||= isUnderWay
      return isUnderWay
    }

    /** Ends the attempt, which may begin again. */
    function leave(): void {
      isUnderWay = false
      for (const place of begun) endAt(place)
      begun.clear()
    }

    async function admit(accountId: string | undefined): Promise<AttemptAdmission> {
      const ofNone = placesOfId(noIdKey(account), network, account)
      const ofAccount = accountId === undefined ? ofNone : placesOfId(idKey(accountId, tenant), network, account)
      // Otherwise each tenant that the client names would give it more guesses.
      if (isKnown && accountId !== undefined && tenant !== undefined)
        ofAccount.push(...placesOfId(idKey(accountId), network, account))
      try {
        if (isShared) await readAll([...ofEmail, ...ofAccount])
        assertNotReached(ofEmail)
      } catch (error) {
        void end('not_checked')
        throw error
      }
      if (ofEmail.some(({ limit, key }) => limit.isExceeded(key))) {
        leave()
        return 'waits'
      }
      const isAdmitted = beginAt(ofAccount)
      // A failure costs the same work for every account and for none. A password that was not checked must not use up the limits of the account.
      places = [...ofEmail, ...(isAdmitted ? ofAccount : ofNone)]
      return isAdmitted ? 'admitted' : 'refused'
    }

    async function end(outcome: AttemptOutcome): Promise<void> {
      if (hasEnded) return
      hasEnded = true
      if (outcome === 'failed' && isUnderWay) {
        const failAt = (place: Place) => {
          const { limit, key, spelling } = place
          return begun.delete(place) ? limit.endWithFailure(key, storeFailed, spelling) : limit.fail(key, storeFailed)
        }
        await Promise.all(places.map(failAt))
      }
      if (outcome === 'disconnected' && hasBegun) void disconnects.fail(network, storeFailed)
      leave()
    }

    return { check, begin, admit, end }
  }

  async function consume(source: LoginSource, storeFailed: StoreFailed, accountId?: string): Promise<Attempt> {
    const one = attempt(source, storeFailed)
    await one.check()
    const admission = one.begin() && (await one.admit(accountId))
    if (admission === 'admitted') return one
    void one.end('not_checked')
    if (accountId !== undefined && admission === 'refused') {
      assertNotReached(placesOfId(idKey(accountId, source.tenant), networkKey(source.address), ''))
    }
    throw new AuthError('overloaded')
  }

  function checkAddress(address: string | undefined): void {
    const network = networkKey(address)
    assertNotReached(placesOf('', network).filter(({ limit }) => limit.name === 'address'))
    assertFewDisconnects(network)
  }

  async function reset({ id, email, tenant }: ResetAccount): Promise<void> {
    const account = emailKey(email, tenant)
    const keys = [account, noIdKey(account), idKey(id, tenant), idKey(id)]
    const ofAccount = limits.filter(({ isOfAccount }) => isOfAccount)
    await Promise.all(ofAccount.flatMap((limit) => keys.map((key) => limit.reset(key))))
  }

  return { checkAddress, attempt, consume, reset }
}

/** The limits as a login calls them. */
export type LimitsPort = Pick<ReturnType<typeof createAttempts>, 'checkAddress' | 'attempt'>

const UNLIMITED: Attempt = { check() {}, begin: () => true, admit: () => 'admitted', end() {} }

/** The limits of a host that turns them off. */
export const NO_LIMITS: LimitsPort = { checkAddress() {}, attempt: () => UNLIMITED }
