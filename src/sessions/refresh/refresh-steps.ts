import { randomInt } from 'node:crypto'
import { callHost } from '../../concurrency/host-call.js'
import { AuthError } from '../../errors/auth-error.js'
import type { Emit } from '../../events/emitter.js'
import type { SessionEnd } from '../../events/events.js'
import { misuse, PAGE } from '../../options/misuse.js'
import { bare, isPlainObject, memberOf } from '../../options/values.js'
import {
  dateIn,
  isSessionId,
  type NewSession,
  newSession,
  readFound,
  type SessionChange,
  type SessionStore,
  unchanged,
} from '../session.js'
import { acceptsHash, announceTo, confirmHash, type HashChange } from './password-tags.js'
import type { RefreshSettings } from './refresh-options.js'
import { firstState, nextState, type RefreshState, readState, writeState } from './refresh-state.js'
import { createRefreshSigner, openTag, type RefreshTokenFacts } from './refresh-token.js'

/** A session that can be refreshed, as the store holds it. */
export interface RefreshableSession {
  readonly id: string
  readonly accountId: string
  /** The time of the sign-in. */
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly lastUsedAt: Date
  /** The time at which it was looked up, in milliseconds. */
  readonly foundAt: number
  readonly state: RefreshState
  /** The text of the state in the store, for the comparison of `replace`. */
  readonly stored: string
  /** The terms of the sign-in. */
  readonly terms: string | undefined
}

/** The password hash of an account after a sign-in, and a better one that the sign-in has announced, which the store may store later. */
export interface ConfirmedHash {
  current: string | null
  announced: string | undefined
}

/** The reason for ending a session that somebody wants to refresh. */
export type RefreshEnd = Extract<SessionEnd, 'reused' | 'account' | 'signed_out'>

/** The steps of a refresh that need the sessions. Returned with the sessions, for the routers of this package. */
export type RefreshSteps = ReturnType<typeof createRefreshSteps>

/** More changes of one session at the same moment than any number of tabs makes. */
const MOST_RACES = 16

/** The ids of starts are before the year 2005 as times, so none is the time of a recent refresh. */
const LATEST_START_ID = 2 ** 40

/**
 * Returns the id of the start of a session of an old refresh token. The token has one session id, so its session may end and start again
 * while a request has checked the first one. The place of the time at which the token was replaced holds it, until the session moves on.
 */
export const startIdOf = ({ state }: Pick<RefreshableSession, 'state'>) => state.replacedAt[0]

/** The settings of refresh, and the look-up of an account. */
export interface RefreshStepsSettings extends RefreshSettings {
  /**
   * Returns the password hash of an account. Undefined for one that is gone.
   * @throws AuthError `unavailable` when the look-up fails
   */
  hashOf(accountId: string): Promise<string | null | undefined>
}

interface RefreshStepsOptions extends RefreshStepsSettings {
  store: SessionStore
  now(): number
  /** The time limit for a call of the store, in milliseconds. */
  timeout: number
  emit: Emit
  /** Ends the oldest sessions of an account above its maximum. */
  endOldest(accountId: string, address: string | undefined): Promise<void>
}

/** Creates the steps of a refresh. Each rejects with an AuthError `unavailable` when the store fails. */
export function createRefreshSteps({
  store,
  now,
  timeout,
  emit,
  secrets,
  idle,
  unremembered,
  longest,
  grace,
  hashOf,
  endOldest,
}: RefreshStepsOptions) {
  const signer = createRefreshSigner(secrets)
  const call = <T>(run: () => Promise<T>) => callHost('sessions', run, { timeout })

  /** Returns the end of a session that is refreshed now. */
  const endOf = ({ createdAt, state }: Pick<RefreshableSession, 'createdAt' | 'state'>) =>
    new Date(Math.min(now() + (state.remember ? idle : unremembered), createdAt.getTime() + longest))

  const isOver = ({ createdAt, expiresAt }: RefreshableSession, time: number) =>
    expiresAt.getTime() <= time || createdAt.getTime() + longest <= time

  /**
   * Looks up a session that has begun with refresh. Its state is never null, unless the store has lost it.
   * @param mayLack true for a session that may have begun without refresh. It is not found then
   */
  async function lookUp(id: string, mayLack = false): Promise<RefreshableSession | undefined> {
    const foundAt = now()
    const found: unknown = isSessionId(id) ? await store.find(id) : undefined
    if (mayLack && isPlainObject(found) && memberOf(found, 'refresh') == null) return undefined
    const session = readRefreshable(id, found)
    return session && { ...session, foundAt }
  }

  async function find(id: string): Promise<RefreshableSession | undefined> {
    const session = await lookUp(id)
    return session && !isOver(session, session.foundAt) ? session : undefined
  }

  /** Stores another state, if the session still has the one that was found. */
  async function swap(found: RefreshableSession, change: Partial<RefreshableSession>) {
    const session: RefreshableSession = { ...found, ...change }
    const stored = writeState(session.state)
    const { expiresAt, lastUsedAt, terms } = session
    const moved = terms !== undefined && terms !== found.terms ? { terms } : undefined
    const to: SessionChange = bare({ refresh: stored, expiresAt, lastUsedAt, ...moved })
    const isSwapped: unknown = await store.replace?.(session.id, found.stored, to)
    if (typeof isSwapped !== 'boolean') throw misuse('sessions: replace must return true or false', PAGE.stores)
    return isSwapped ? { ...session, stored } : undefined
  }

  /**
   * Changes a session until no other process has changed it meanwhile. Returns what `change` returns for a session that stays.
   * @param isWanted returns whether somebody still waits for the change, just before each write. Default: true
   */
  async function update<E extends string>(
    found: RefreshableSession | undefined,
    change: (session: RefreshableSession) => Partial<RefreshableSession> | undefined | E,
    isWanted = () => true,
  ): Promise<RefreshableSession | 'ended' | E> {
    let session = found
    for (let races = 0; session && races < MOST_RACES; races++) {
      const changed = change(session)
      if (typeof changed === 'string') return changed
      if (!isWanted()) throw new AuthError('client_closed_request')
      const swapped = changed ? await swap(session, changed) : session
      if (swapped) return swapped
      session = await lookUp(session.id)
    }
    if (session) throw new AuthError('overloaded')
    return 'ended'
  }

  function rotationOf(
    found: RefreshableSession,
    session: RefreshableSession,
    { generation, terms: ofToken, startId }: RefreshTokenFacts,
    passwordHash: string | null,
  ): Partial<RefreshableSession> | undefined | 'reused' | 'restarted' {
    const { state } = session
    if (startId !== undefined && state.generation === 0 && startIdOf(session) !== startId) return 'restarted'
    // A refresh token of an earlier release holds the terms itself, and its successor does not.
    const moved = session.terms === undefined && ofToken !== undefined ? { terms: ofToken } : undefined
    const time = now()
    const next = nextState(state, generation, { now: time, presentedAt: found.foundAt, grace })
    if (!next) return 'reused'
    if (next === state) return moved
    // A password that was changed meanwhile has set another tag than the one that was compared with this hash.
    const isCompared = state.passwordTag === found.state.passwordTag && acceptsHash(signer, state, passwordHash)
    const tags = isCompared ? confirmHash(signer, state, passwordHash) : undefined
    return { ...moved, state: { ...next, ...tags }, expiresAt: endOf(session), lastUsedAt: new Date(time) }
  }

  /** Returns a session whose terms come from its refresh token, once the store has them: the next refresh token does not. */
  async function withStoredTerms(moved: RefreshableSession): Promise<RefreshableSession | 'ended'> {
    const stored = await lookUp(moved.id)
    if (stored && stored.terms !== moved.terms) throw unchanged('terms')
    return stored ? moved : 'ended'
  }

  /** Changes the password tags of a session that was found, also of an expired one: another process may say that it has not expired. */
  async function retag(
    found: RefreshableSession | undefined,
    change: (state: RefreshState) => Partial<RefreshState> | undefined | 'full',
  ): Promise<void> {
    const changed = await update(found, ({ state }) => {
      const tags = change(state)
      return typeof tags === 'object' ? { state: { ...state, ...tags } } : tags
    })
    if (changed === 'full') throw new AuthError('overloaded')
  }

  return {
    ...signer,
    endOf,
    /** The first state and the end of a session that starts. */
    begin(remember: boolean) {
      const state = firstState({ remember, passwordTag: openTag() })
      return { refresh: writeState(state), expiresAt: endOf({ createdAt: new Date(now()), state }) }
    },
    /**
     * Stores the session of an old refresh token, whose id is a digest of the token. Of several requests with the token, one stores it. The
     * others continue with this session, so a failure removes none.
     * @throws AuthError `unavailable` when the store fails and has no such session
     */
    async adopt(
      { accountId, id, ...client }: Omit<NewSession, 'expiresAt' | 'refresh'>,
      { createdAt, remember, passwordHash }: { createdAt: Date; remember: boolean; passwordHash: string | null },
    ): Promise<void> {
      const first = firstState({ remember, passwordTag: signer.tagOf(passwordHash) })
      const state = { ...first, replacedAt: [randomInt(LATEST_START_ID)] }
      const expiresAt = endOf({ createdAt, state })
      const given = { ...client, id, accountId, expiresAt, refresh: writeState(state) }
      const session = newSession(given, createdAt.getTime())
      async function add(): Promise<boolean> {
        if (await lookUp(id)) return false
        await store.add(session)
        return true
      }
      const isAdded = await call(add).catch(async (error) => {
        // A database refuses a second row with the same key.
        if (await call(() => lookUp(id))) return false
        throw error
      })
      if (!isAdded) return
      const address = session.address ?? undefined
      emit({ address }, { type: 'session.started', accountId, sessionId: id, expiresAt })
      await call(() => endOldest(accountId, address))
    },
    /** Returns the session that a refresh token names, or undefined when it has ended or expired. */
    find: ({ sessionId }: RefreshTokenFacts) => call(() => find(sessionId)),
    /** Returns the session also when it has expired, because the clock of another process may say that it has not. */
    findEvenExpired: ({ sessionId }: RefreshTokenFacts) => call(() => lookUp(sessionId)),
    /** Returns a session that may have begun without refresh, or undefined for such a one. */
    findWithRefresh: (id: string) => call(() => lookUp(id, true)),
    /** Returns whether the account's password was changed since the sign-in, except in this session. A better hash does not count. */
    hasOtherPassword: ({ state }: RefreshableSession, passwordHash: string | null) =>
      !acceptsHash(signer, state, passwordHash),
    /**
     * Moves a session to the next generation. Of several refreshes at once, one moves it, and all get the same session.
     * @returns the session with its current generation, or why there is none
     */
    async rotate(session: RefreshableSession, presented: RefreshTokenFacts, passwordHash: string | null) {
      let isOver = false
      const change = (current: RefreshableSession) => rotationOf(session, current, presented, passwordHash)
      async function run() {
        const rotated = await update(session, change, () => !isOver)
        return typeof rotated === 'object' && rotated.terms !== session.terms ? withStoredTerms(rotated) : rotated
      }
      try {
        return await callHost('sessions', run, { timeout, passThrough: ['overloaded'] })
      } finally {
        // A retry after the time limit would move the session on although the client has another refresh token by now.
        isOver = true
      }
    },
    /** Keeps a session in which the user has changed the password: notes the hash that the account has now. */
    async keepAfterChange(id: string, accountId: string): Promise<void> {
      const passwordHash = await hashOf(accountId)
      // The next refresh ends the session of an account that is gone.
      if (passwordHash === undefined) return
      await call(async () => {
        const found = await lookUp(id, true)
        if (found?.accountId !== accountId) return
        await retag(found, () => ({ passwordTag: signer.tagOf(passwordHash), announced: [] }))
      })
    },
    /** Notes the password of a sign-in in its session, if the store has stored the session with its terms. */
    confirmSignIn: ({ id, terms }: Pick<NewSession, 'id' | 'terms'>, { current, announced }: ConfirmedHash) =>
      call(async () => {
        const started = await lookUp(id)
        if (started && started.terms !== (terms ?? undefined)) throw unchanged('terms')
        await retag(started, (state) => {
          const tags = confirmHash(signer, state, current)
          if (current === null || announced === undefined) return tags
          const more = announceTo(signer, tags, { from: current, to: announced }, now())
          return typeof more === 'object' ? more : tags
        })
      }),
    /**
     * Announces a better hash of the same password to the sessions of its account, before it is stored: a refresh that finds either hash is
     * right. Only a login that has verified the password may call it.
     * @throws AuthError `overloaded` when other logins have announced as many hashes as a session keeps. Then do not store the hash
     */
    announceHash: (change: HashChange) =>
      callHost(
        'sessions',
        async () => {
          const ids = (await store.list(change.accountId)).map(({ id }) => id)
          const announce = (state: RefreshState) => announceTo(signer, state, change, now())
          await Promise.all(ids.map(async (id) => retag(await lookUp(id, true), announce)))
        },
        { timeout, passThrough: ['overloaded'] },
      ),
    /** Ends a session. Of several calls at once, one has the event. */
    async end({ id, accountId }: RefreshableSession, reason: RefreshEnd, address: string | undefined): Promise<void> {
      const hasEnded = await call(async () => (await store.remove(id, accountId)) === true)
      if (hasEnded) emit({ address }, { type: 'session.ended', accountId, reason, sessionId: id })
    },
  }
}

/**
 * Reads a session that `find` of a store returned.
 * @throws TypeError that names the invalid member. The store is wrong, not the client
 */
function readRefreshable(id: string, original: unknown): Omit<RefreshableSession, 'foundAt'> | undefined {
  const caller = 'sessions: find'
  const found = readFound(caller, original)
  if (!found) return undefined
  const session = Object(original)
  const [createdAt, expiresAt] = [dateIn(caller, session, 'createdAt'), dateIn(caller, session, 'expiresAt')]
  const stored = memberOf(session, 'refresh')
  const terms = memberOf(session, 'terms') ?? undefined
  if (terms !== undefined && typeof terms !== 'string') throw unchanged('terms')
  const { accountId, lastUsedAt } = found
  const dates = { createdAt, expiresAt, lastUsedAt }
  return { id, accountId, ...dates, state: readState(stored), stored: String(stored), terms }
}
