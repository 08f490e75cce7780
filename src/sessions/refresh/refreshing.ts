import { brandOf } from '../../options/brand.js'
import { misuse, PAGE } from '../../options/misuse.js'
import { isPlainObject, isValidDate, memberOf } from '../../options/values.js'
import { AuthError } from '../../refusals/auth-error.js'
import type { Emit, SessionEnd } from '../../refusals/events.js'
import { callHost } from '../../waiting/host-call.js'
import { isSessionId, type SessionStore } from '../session.js'
import type { RefreshSettings } from './refresh-options.js'
import { firstState, nextState, type RefreshState, readState, writeState } from './refresh-state.js'
import { createRefreshSigner, type RefreshTokenFacts } from './refresh-token.js'

/** A session that can be refreshed, as the store holds it. */
export interface RefreshableSession {
  readonly id: string
  readonly accountId: string
  /** The time of the sign-in. */
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly lastUsedAt: Date
  readonly state: RefreshState
  /** The text of the state in the store, for the comparison of `replace`. */
  readonly stored: string
}

/** The password hash of an account after a sign-in, and the one that the sign-in has replaced. */
export interface ConfirmedHash {
  current: string | null
  replaced: string | undefined
}

/** The reason for ending a session that somebody wants to refresh. */
export type RefreshEnd = Extract<SessionEnd, 'reused' | 'account' | 'signed_out'>

/** The steps of a refresh that need the sessions. Returned with the sessions, for the routers of this package. */
export type Refreshing = ReturnType<typeof createRefreshing>

/** Returns the steps of a refresh of sessions that have the option. A copy of the sessions has none. */
export const refreshingOf = (sessions: object) => brandOf('Sessions', sessions) as Refreshing | undefined

/** More changes of one session at the same moment than any number of tabs makes. */
const MOST_RACES = 16

interface RefreshingOptions extends RefreshSettings {
  store: SessionStore
  now(): number
  /** The time limit for a call of the store, in milliseconds. */
  timeout: number
  emit: Emit
}

/** Creates the steps of a refresh. Each rejects with an AuthError `unavailable` when the store fails. */
export function createRefreshing({ store, now, timeout, emit, secrets, idle, longest, grace }: RefreshingOptions) {
  const signer = createRefreshSigner(secrets)
  const call = <T>(run: () => Promise<T>) => callHost('sessions', run, { timeout })

  /** Returns the end of a session that is refreshed now. */
  const endOf = (createdAt: number) => new Date(Math.min(now() + idle, createdAt + longest))

  const isOver = ({ createdAt, expiresAt }: RefreshableSession, time: number) =>
    expiresAt.getTime() <= time || createdAt.getTime() + longest <= time

  async function find(id: string): Promise<RefreshableSession | undefined> {
    const session = isSessionId(id) ? readRefreshable(id, await store.find(id)) : undefined
    return session && !isOver(session, now()) ? session : undefined
  }

  /** Stores another state, if the session still has the one that was found. */
  async function swap(found: RefreshableSession, change: Partial<RefreshableSession>) {
    const session: RefreshableSession = { ...found, ...change }
    const stored = writeState(session.state)
    const { expiresAt, lastUsedAt } = session
    const isSwapped: unknown = await store.replace?.(session.id, found.stored, {
      refresh: stored,
      expiresAt,
      lastUsedAt,
    })
    if (typeof isSwapped !== 'boolean') throw misuse('sessions: replace must return true or false', PAGE.sessions)
    return isSwapped ? { ...session, stored } : undefined
  }

  /** Changes a session until no other process has changed it meanwhile. Returns what `change` returns for a session that stays. */
  async function update<E extends string>(
    found: RefreshableSession,
    change: (session: RefreshableSession) => Partial<RefreshableSession> | undefined | E,
  ): Promise<RefreshableSession | 'ended' | E> {
    let session: RefreshableSession | undefined = found
    for (let races = 0; session && races < MOST_RACES; races++) {
      const changed = change(session)
      if (typeof changed === 'string') return changed
      const swapped = changed ? await swap(session, changed) : session
      if (swapped) return swapped
      session = await find(session.id)
    }
    if (session) throw new AuthError('overloaded')
    return 'ended'
  }

  function rotated(
    session: RefreshableSession,
    generation: number,
    passwordTag: string,
  ): Partial<RefreshableSession> | undefined | 'reused' {
    const { state, createdAt } = session
    const time = now()
    const next = nextState(state, generation, { now: time, grace })
    if (!next) return 'reused'
    if (next === state) return undefined
    return { state: { ...next, passwordTag }, expiresAt: endOf(createdAt.getTime()), lastUsedAt: new Date(time) }
  }

  /** Notes another password tag, where the session has a certain one. */
  async function retag(id: string, isOld: (tag: string) => boolean, passwordTag: string): Promise<void> {
    const session = await find(id)
    if (!session) return
    await update(session, ({ state }) => (isOld(state.passwordTag) ? { state: { ...state, passwordTag } } : undefined))
  }

  return {
    ...signer,
    /** The first state and the end of a session that starts. */
    begin(remember: boolean) {
      return { refresh: writeState(firstState({ remember, passwordTag: '' })), expiresAt: endOf(now()) }
    },
    /** Returns the session that a refresh token names, or undefined when it has ended or expired. */
    find: ({ sessionId }: RefreshTokenFacts) => call(() => find(sessionId)),
    /** Returns whether the account's password was changed since the sign-in, except in this session. */
    hasOtherPassword: ({ state: { passwordTag } }: RefreshableSession, passwordHash: string | null) =>
      passwordTag !== '' && !signer.isTagOf(passwordTag, passwordHash),
    /**
     * Moves a session to the next generation. Of several refreshes at once, one moves it, and all get the same session.
     * @returns the session with its current generation, or why there is none
     */
    rotate(session: RefreshableSession, generation: number, passwordHash: string | null) {
      const tag = signer.tagOf(passwordHash)
      // Another tag was noted meanwhile, after a change of the password that this refresh does not know.
      const tagFor = ({ state: { passwordTag } }: RefreshableSession) =>
        passwordTag === session.state.passwordTag ? tag : passwordTag
      return callHost('sessions', () => update(session, (current) => rotated(current, generation, tagFor(current))), {
        timeout,
        passThrough: ['overloaded'],
      })
    },
    /** Keeps a session in which the user has changed the password. Its next refresh takes the account's hash as it is. */
    keepAfterChange: (id: string) => call(() => retag(id, () => true, '')),
    /**
     * Notes the password of a sign-in in its session. Other sessions of the account stay, although the sign-in has replaced the hash by
     * another one of the same password.
     */
    notePassword(
      { id, accountId }: Pick<RefreshableSession, 'id' | 'accountId'>,
      { current, replaced }: ConfirmedHash,
    ) {
      const tag = signer.tagOf(current)
      const others = async () => (replaced === undefined ? [] : await store.list(accountId)).map((other) => other.id)
      const isReplaced = (old: string) => replaced !== undefined && signer.isTagOf(old, replaced)
      return call(async () => {
        await retag(id, () => true, tag)
        await Promise.all((await others()).map((other) => retag(other, isReplaced, tag)))
      })
    },
    /** Ends a session. Of several calls at once, one has the event. */
    async end({ id, accountId }: RefreshableSession, reason: RefreshEnd, address: string | undefined): Promise<void> {
      const hasEnded = await call(async () => (await store.remove(id, accountId)) === true)
      if (hasEnded) emit({ address }, { type: 'session.ended', accountId, reason, sessionId: id })
    },
  }
}

/**
 * Reads what `find` of a store returned. A session that cannot be refreshed has no state.
 * @throws TypeError that names the invalid member. The store is wrong, not the client
 */
function readRefreshable(id: string, original: unknown): RefreshableSession | undefined {
  if (original === undefined || original === null) return undefined
  if (!isPlainObject(original)) throw misuse('sessions: find must return a session, null or undefined', PAGE.sessions)
  const stored = memberOf(original, 'refresh') ?? undefined
  if (stored === undefined) return undefined
  const accountId = memberOf(original, 'accountId')
  const dates = ['createdAt', 'expiresAt', 'lastUsedAt'].map((name) => memberOf(original, name))
  if (typeof accountId !== 'string' || accountId === '' || !dates.every(isValidDate)) {
    const what = 'all members of a session that has "refresh", with valid dates'
    throw misuse(`sessions: find must return ${what}`, PAGE.sessions)
  }
  const [createdAt, expiresAt, lastUsedAt] = dates.map((date) => new Date(date)) as [Date, Date, Date]
  return { id, accountId, createdAt, expiresAt, lastUsedAt, state: readState(stored), stored: String(stored) }
}
