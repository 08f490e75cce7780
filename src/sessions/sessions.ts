import { callHost } from '../concurrency/host-call.js'
import { AuthError } from '../errors/auth-error.js'
import type { Emit } from '../events/emitter.js'
import type { SessionEnd } from '../events/events.js'
import { hasBrand, isOfProvider } from '../options/brand.js'
import { text } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { named } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'
import { isActingId } from './acting-id.js'
import { addSession, endOldest } from './add-session.js'
import { checkedStore } from './checked-store.js'
import { createSessionFinder } from './find-session.js'
import { noteStart } from './mistakes.js'
import { createRefreshSteps, type RefreshSteps, type RefreshStepsSettings } from './refresh/refresh-steps.js'
import { isSessionId, type NewSession, newSession, type Session, type SessionStore, sessionIdOf } from './session.js'

const LONGEST_DATA = 4096

/** @throws TypeError for data that is not a JSON object, or is too long */
function dataText(data: unknown): string {
  const text = isPlainObject(data) ? JSON.stringify(data) : undefined
  if (!text?.startsWith('{') || text.length > LONGEST_DATA)
    throw misuse(`sessions.update: the data must be a JSON object of at most ${LONGEST_DATA} characters`, PAGE.signOut)
  return text
}

/** The settings of the sessions of an app. */
export interface SessionsSettings {
  store: SessionStore
  /** The issuers of the app. A token of another issuer has no session. */
  issuers: readonly string[]
  /** The most sessions of one account, without those of administrators who act as the account. A further sign-in ends the oldest one. */
  maxPerAccount: number
  /** The time limit for a call of the store, in milliseconds. */
  timeout: number
  emit: Emit
  now(): number
  /** Keeps users signed in with refresh tokens. Default: a session ends with its token. */
  refresh?: RefreshStepsSettings | undefined
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

/** The sessions of all accounts: `auth.sessions`. */
export interface Sessions {
  /**
   * Starts the session of a new token. `createAuth` calls it for each sign-in, and notices a password change.
   * @param isWanted returns whether the token will be sent, just before the oldest session ends and at the end. Default: true
   * @throws AuthError `unavailable` when the store fails, or `client_closed_request` when `isWanted` returned false: then do not send the
   * token. TypeError that names an invalid member
   */
  start(session: NewSession, isWanted?: () => boolean): Promise<void>
  /**
   * Returns whether the session of a token has ended, as a guard with a `store` asks. A use of the token is noted.
   * @throws every error of the store
   */
  isEnded(auth: SessionOwner): Promise<boolean>
  /**
   * Returns the sessions of an account, newest first: all of them, also those above a `maxPerAccount` that you have lowered.
   * @throws AuthError `unavailable` when the store fails
   */
  list(accountId: string): Promise<Session[]>
  /**
   * Sets the data of the session of a guarded request, in place of its data of before: `authOf(req).session` of its next requests. Changes
   * nothing else of the session.
   * @param data a JSON object of at most 4,096 characters
   * @throws AuthError `invalid_token` when the session has ended, `unavailable` when the store fails. TypeError for a request without a
   * verified token, and for other data
   */
  update(req: { readonly auth?: unknown }, data: Readonly<Record<string, unknown>>): Promise<void>
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
   * Ends all sessions of an account except the current one, after you have stored a new password. With `refresh`, it looks the account up,
   * and the current session accepts the password hash that it finds.
   * @throws AuthError `unavailable` when the store or the look-up fails. Call it again then
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

/**
 * Creates the sessions of an app: a record for each token, so that users see where they are signed in and can end a session.
 * @returns the sessions, and the steps of a refresh where the settings have it
 */
export function createSessions(settings: SessionsSettings): {
  sessions: Sessions
  refreshSteps: RefreshSteps | undefined
} {
  const { store, issuers, maxPerAccount, timeout, emit, now, refresh } = settings
  const checked = checkedStore(store, now)
  const refreshSteps = refresh && createRefreshSteps({ ...refresh, store, now, timeout, emit, endOldest: endSurplus })
  const findSession = createSessionFinder({ store, timeout, emit })

  const call = <T>(run: () => Promise<T>) => callHost('sessions', run, { timeout })

  function reportEnd(address: string | undefined, accountId: string, reason: SessionEnd, id?: string): void {
    emit({ address }, { type: 'session.ended', accountId, reason, ...(id !== undefined && namesOf(id)) })
  }

  /** Returns the id of a session as events name it. Without refresh, it is the one of its token, unless somebody acts as the account. */
  const namesOf = (id: string) => (refreshSteps || isActingId(id) ? { sessionId: id } : { tokenId: id })

  const surplusReporter = (accountId: string, address: string | undefined) => (id: string) =>
    reportEnd(address, accountId, 'maximum', id)

  async function endSurplus(accountId: string, address: string | undefined): Promise<void> {
    await endOldest({ store: checked, maxPerAccount, accountId, hasEnded: surplusReporter(accountId, address) })
  }

  async function endSeveral(reason: SessionEnd, address: string | undefined, accountId: string, exceptId?: string) {
    const hasEnded = await call(() => checked.removeAll(accountId, exceptId))
    if (hasEnded) reportEnd(address, accountId, reason)
  }

  /** Returns whether an owner has a token of another issuer, which may have the id of a session and of an account. */
  function isForeign(owner: object): boolean {
    if (isOfProvider(owner)) return true
    const issuer = memberOf(owner, 'issuer')
    return issuer !== undefined && !issuers.includes(issuer as string)
  }

  const sessions: Sessions = {
    isEnded: async (auth) => isForeign(auth) || !(await findSession(auth, now())),
    async start(given: NewSession, isWanted = () => true) {
      const session = newSession(given, now())
      const { id, accountId, expiresAt } = session
      const address = session.address ?? undefined
      const hasEnded = surplusReporter(accountId, address)
      noteStart(store)
      await addSession({ store: checked, session, maxPerAccount, timeout, isWanted, hasEnded })
      emit({ address }, { type: 'session.started', accountId, ...namesOf(id), expiresAt })
    },
    async list(accountId: string) {
      assertAccountId('list', accountId)
      return call(() => checked.list(accountId))
    },
    async update(req, data) {
      const auth: unknown = memberOf(Object(req), 'auth')
      if (!hasBrand('VerifiedToken', auth))
        throw misuse('sessions.update: pass a request that a guard has admitted', PAGE.signOut)
      const text = dataText(data)
      const owner = auth as SessionOwner
      const id = sessionIdOf(owner)
      const isUpdated = await call(
        async () => !isForeign(owner) && (await checked.has(id, owner.accountId)) && checked.update(id, text),
      )
      if (!isUpdated) throw new AuthError('invalid_token', { reason: 'revoked', accountId: owner.accountId })
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
        const what = 'pass req.auth of a token that your app issued, because it identifies the session to keep'
        throw misuse(`sessions.endOthers: ${what}`, PAGE.signOut)
      }
      await endSeveral('others', address, accountId, id)
      if (!(UNCHANGED in auth)) await refreshSteps?.keepAfterChange(id, accountId)
    },
    async endAll(accountId: string, address?: string) {
      assertAccountId('endAll', accountId)
      await endSeveral('all', address, accountId)
    },
  }
  return { sessions: Object.freeze(sessions), refreshSteps }
}
