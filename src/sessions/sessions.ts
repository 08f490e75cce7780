import { callHost, timeoutOption } from '../concurrency/host-call.js'
import { emitter } from '../events/emitter.js'
import type { AuthObserver, SessionEnd } from '../events/events.js'
import { type Clock, clockOption, type Duration, func, integer, text } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { type Check, InvalidOption, named, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { isActingId } from './acting-id.js'
import { addSession, surplusOf } from './add-session.js'
import { appIssuers } from './app-issuers.js'
import { checkedStore, storeObject } from './checked-store.js'
import { withInternals } from './internals.js'
import { createLastUsed } from './last-used.js'
import { noteStart } from './mistakes.js'
import { type RefreshOptions, type RefreshSettings, readRefreshOptions } from './refresh/refresh-options.js'
import { createRefreshSteps } from './refresh/refresh-steps.js'
import { isSessionId, type NewSession, newSession, type Session, type SessionStore, sessionIdOf } from './session.js'

/** The options of `createSessions`. */
export interface SessionsOptions {
  /**
   * The most sessions of one account. A further sign-in ends the oldest one. Sessions of administrators who act as the account do not count:
   * there are at most 100 in addition. Default 100; 1 to 1,000.
   */
  maxPerAccount?: number | undefined
  /** Time limit for the store, except in a guard, which has its own. Default 5 s. 1 ms to 1 min. After the limit: `unavailable`. */
  timeout?: Duration | undefined
  /**
   * Called when a session has started or ended, and when `lastUsedAt` could not be stored. Default: a process
   * warning for the first failure of these sessions.
   */
  onEvent?: AuthObserver | undefined
  /**
   * The issuers of the app, exactly as in its tokens. Needed where a guard accepts several issuers, for example while the app changes its
   * issuer. A token of another issuer never has a session. Default: the issuer of the first guard.
   */
  issuers?: readonly string[] | undefined
  /** Lets `createAuth` keep users signed in with refresh tokens. Default: a session ends with its token. */
  refresh?: RefreshOptions | undefined
  /** The current time, for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

/** An account, and the id of its current token. A verified token (`req.auth`) is one. */
export interface SessionOwner {
  /** The account. */
  readonly accountId: string
  /** The id of the current token. */
  readonly id: string
  /** The issuer of the current token. Another issuer than those of the app has no sessions. */
  readonly issuer?: string | undefined
  /** The session of the current token, where it has refresh tokens. Default: the session with the token's id. */
  readonly sessionId?: string | undefined
}

/** The sessions of all accounts. Returned by `createSessions`. */
export interface Sessions {
  /** The option `issuers`. */
  readonly issuers: readonly string[] | undefined
  /**
   * Starts the session of a new token. `createAuth` calls it for each sign-in, and notices a password change.
   * @param isWanted returns whether the token will be sent, just before the oldest session ends and at the end. Default: true
   * @throws AuthError `unavailable` when the store fails, or `client_closed_request` when `isWanted` returned false: then do not send the
   * token. TypeError that names an invalid member
   */
  start(session: NewSession, isWanted?: () => boolean): Promise<void>
  /**
   * Returns whether the session of a token has ended. The guard calls it, as it calls `isRevoked`, and limits its time. A use of the
   * token is noted.
   * @throws every error of the store
   */
  isEnded(auth: SessionOwner): Promise<boolean>
  /**
   * Returns the sessions of an account, newest first.
   * @throws AuthError `unavailable` when the store fails
   */
  list(accountId: string): Promise<Session[]>
  /**
   * Ends one session of an account. Its token is refused from then on.
   * @param owner the account. Ending the session of its `id` is a sign-out
   * @param id the session to end
   * @param address the address of the client that ends it, for the event
   * @returns false when the account has no such session, and when another call has just ended it
   * @throws AuthError `unavailable` when the store fails
   */
  end(owner: Partial<SessionOwner> & Pick<SessionOwner, 'accountId'>, id: string, address?: string): Promise<boolean>
  /**
   * Ends all sessions of an account except the current one, after you have stored a new password. The next refresh of the current session
   * accepts the new password hash.
   * @throws AuthError `unavailable` when the store fails
   */
  endOthers(auth: SessionOwner, address?: string): Promise<void>
  /**
   * Ends all sessions of an account, for example for an administrator.
   * @throws AuthError `unavailable` when the store fails
   */
  endAll(accountId: string, address?: string): Promise<void>
}

const UNCHANGED = Symbol('unchanged')

/** Returns the owner for `endOthers` where no password was changed. A thief could otherwise keep a session over such a change. */
export const withoutChange = ({ accountId, id, issuer, sessionId }: SessionOwner): SessionOwner =>
  Object.assign({ accountId, id, issuer, sessionId }, { [UNCHANGED]: true })

const accountIdOption = text('a non-empty string')

/** A query of some databases without this value would mean all accounts. */
const assertAccountId = (method: string, accountId: unknown) =>
  named(`sessions.${method}: the account id`, accountIdOption, accountId, PAGE.signOut)

const issuerList: Check<readonly string[]> = (value) => {
  const isList = Array.isArray(value) && value.length > 0 && [...value].every((one) => typeof one === 'string' && one)
  if (!isList) throw new InvalidOption("a list of issuers, like ['https://api.example.com']")
  return Object.freeze([...value])
}

const refreshOptions: Check<RefreshSettings> = (value) => {
  if (isPlainObject(value)) return readRefreshOptions(value as unknown as RefreshOptions)
  throw new InvalidOption(
    'an object like { secret: process.env.REFRESH_SECRET }',
    "'cookie' and 'body' belong to createAuth",
  )
}

const schema = {
  maxPerAccount: optional(integer(1, 1000, 'a number of sessions'), 100),
  timeout: timeoutOption,
  onEvent: optional(func<AuthObserver>('a function')),
  issuers: optional(issuerList),
  refresh: optional(refreshOptions),
  clock: clockOption,
}

const aliases = { tokens: 'issuers' }

/**
 * Creates the sessions of an app: a record for each token, so that users see where they are signed in and can end a session. Pass the
 * result to `createAuth` or `requireBearer`.
 * @param store the host's store, or `memorySessions()`
 * @throws TypeError naming the option that is not valid
 */
export function createSessions(store: SessionStore, options?: SessionsOptions): Sessions {
  const caller = 'createSessions'
  named(`${caller}: the store`, storeObject, store, PAGE.stores)
  const read = readOptions<SessionsOptions, typeof schema>(caller, options, schema, aliases)
  const { maxPerAccount, timeout, issuers, clock: now } = read
  const { useFor, isForeign } = appIssuers(issuers)
  const emit = emitter(read.onEvent)
  const failed = (error: unknown) =>
    emit({ address: undefined }, { type: 'dependency.failed', dependency: 'sessions', refused: false, error })
  if (read.refresh && typeof store.replace !== 'function') {
    throw misuse(
      `${caller}: option "refresh" needs a store with "replace". Use redisSessions() or kyselySessions(), or add the method to your store`,
      PAGE.stores,
    )
  }
  const refreshSteps = read.refresh && createRefreshSteps({ ...read.refresh, store, now, timeout, emit })
  const noteUse = createLastUsed({ store, now, timeout, failed })
  const checked = checkedStore(store, now)

  const call = <T>(run: () => Promise<T>) => callHost('sessions', run, { timeout })

  function reportEnd(address: string | undefined, accountId: string, reason: SessionEnd, id?: string): void {
    emit({ address }, { type: 'session.ended', accountId, reason, ...(id !== undefined && namesOf(id)) })
  }

  /** Returns the id of a session as events name it. Without refresh, it is the one of its token, unless somebody acts as the account. */
  const namesOf = (id: string) => (refreshSteps || isActingId(id) ? { sessionId: id } : { tokenId: id })

  async function endSeveral(reason: SessionEnd, address: string | undefined, accountId: string, exceptId?: string) {
    const hasEnded = await call(() => checked.removeAll(accountId, exceptId))
    if (hasEnded) reportEnd(address, accountId, reason)
  }

  const sessions: Sessions = {
    issuers,
    async isEnded(auth) {
      const { accountId } = auth
      const id = sessionIdOf(auth)
      const found = isForeign(auth) ? undefined : await checked.find(id, accountId)
      if (found) noteUse(id, found)
      return !found
    },
    async start(given: NewSession, isWanted = () => true) {
      const session = newSession(given, now())
      const { id, accountId, expiresAt } = session
      const address = session.address ?? undefined
      const hasEnded = (olderId: string) => reportEnd(address, accountId, 'maximum', olderId)
      noteStart(sessions)
      await addSession({ store: checked, session, maxPerAccount, timeout, isWanted, hasEnded })
      emit({ address }, { type: 'session.started', accountId, ...namesOf(id), expiresAt })
    },
    async list(accountId: string) {
      assertAccountId('list', accountId)
      return call(async () => {
        const sessions = await checked.list(accountId)
        const surplus = new Set(surplusOf(sessions, maxPerAccount))
        return sessions.filter((session) => !surplus.has(session))
      })
    },
    async end(owner, id, address) {
      const { accountId } = owner
      assertAccountId('end', accountId)
      if (isForeign(owner)) return false
      // Not left to the store: a client must not end a session of another account.
      const hasEnded = await call(async () => (await checked.has(id, accountId)) && checked.remove(id, accountId))
      if (hasEnded) reportEnd(address, accountId, id === sessionIdOf(owner) ? 'signed_out' : 'ended', id)
      return hasEnded
    },
    async endOthers(auth: SessionOwner, address?: string) {
      const { accountId } = auth
      const id = sessionIdOf(auth)
      assertAccountId('endOthers', accountId)
      if (!isSessionId(id) || isForeign(auth)) {
        const what = 'pass req.auth of an issuer of your app, which has the id of the session to keep'
        throw misuse(`sessions.endOthers: ${what}`, PAGE.signOut)
      }
      await endSeveral('others', address, accountId, id)
      if (!(UNCHANGED in auth)) await refreshSteps?.keepAfterChange(id)
    },
    async endAll(accountId: string, address?: string) {
      assertAccountId('endAll', accountId)
      await endSeveral('all', address, accountId)
    },
  }
  return Object.freeze(withInternals(sessions, { refreshSteps, useFor }))
}
