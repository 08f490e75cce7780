import { unchanged } from '../session.js'

/** The state of a session's refresh tokens. The store holds it as one text. */
export interface RefreshState {
  /** The generation of the current refresh token. A sign-in has 0. */
  generation: number
  /** The times at which the generations before were replaced, in milliseconds: of `generation - 1` first. At most eight. */
  replacedAt: readonly number[]
  /** True when the last move came from a token that had been replaced long before, and its successor was not presented since. */
  late: boolean
  /** False for a session that ends with the browser. */
  remember: boolean
  /** A digest of the account's password hash, or a shorter text when the next refresh takes the hash of the account as it is. */
  passwordTag: string
  /** Digests of better hashes of the same password, which logins may have stored since. At most three. */
  announced: readonly string[]
  /** The time of the last announcement, in milliseconds. */
  announcedAt: number
}

/** The most hashes that a session keeps in addition to the one of its account. A further login does not replace the hash. */
export const MOST_ANNOUNCED = 3

/** The most times that a session keeps. When all of them are within `grace`, the current generation stays, so that none is missed. */
const MOST_TIMES = 8

/** The most by which clocks differ, in milliseconds. A clock that was much further ahead must not stop the rotation until then. */
const MOST_AHEAD = 60_000

/** The age of a forgiven generation: the one between it and the current one was lost. */
const FORGIVEN_AGE = 2

const FORM = /^1\.(\d{1,15})\.([01])([01])\.([\w-]{0,16})(?:~(\d{1,13})((?:~[\w-]{16}){1,3}))?((?:\.\d{1,16}){0,8})$/

export function writeState(state: RefreshState): string {
  const { generation, replacedAt, late, remember, passwordTag, announced, announcedAt } = state
  const tags = announced.length > 0 ? [passwordTag, announcedAt, ...announced].join('~') : passwordTag
  return ['1', generation, `${Number(late)}${Number(remember)}`, tags, ...replacedAt].join('.')
}

/**
 * Reads what a store returned.
 * @throws TypeError when the store returned another text than the one that it was given
 */
export function readState(text: unknown): RefreshState {
  const match = typeof text === 'string' && FORM.exec(text)
  if (!match) throw unchanged('refresh')
  const [generation, late, remember, passwordTag, announcedAt, announced, times] = match.slice(1) as [
    generation: string,
    late: string,
    remember: string,
    passwordTag: string,
    announcedAt: string | undefined,
    announced: string | undefined,
    times: string,
  ]
  return {
    generation: Number(generation),
    replacedAt: times.split('.').slice(1).map(Number),
    late: late === '1',
    remember: remember === '1',
    passwordTag,
    announced: announced?.split('~').slice(1) ?? [],
    announcedAt: Number(announcedAt ?? 0),
  }
}

/** Returns the state of a session that starts. */
export const firstState = (facts: Pick<RefreshState, 'remember' | 'passwordTag'>): RefreshState => ({
  ...facts,
  generation: 0,
  replacedAt: [],
  late: false,
  announced: [],
  announcedAt: 0,
})

/**
 * Decides about a refresh token whose signature is valid. An honest client presents a replaced token when several tabs refresh at once,
 * or when responses were lost. A thief and the owner of a token present replaced tokens in turn.
 *
 * - The current generation: the session moves to the next one.
 * - One that was replaced within `grace`: the current one again, without a change.
 * - The one before, later: forgiven. The session moves on, and a late one of another generation is then reuse.
 * - The forgiven one again: the current one again, as long as that was never presented. Only the time of the forgiven one changes.
 * - An older one: reuse.
 * - A later one than the current one: the store has lost what it had stored, so the session moves to the generation after it.
 *
 * Without `grace`, each replaced one is reuse.
 * @param times `now`, and `presentedAt`: a slow server must not make a refresh token late
 * @returns the state to store, the same object when nothing changes, or undefined for reuse
 */
export function nextState(
  state: RefreshState,
  presented: number,
  { now, presentedAt, grace }: { now: number; presentedAt: number; grace: number },
): RefreshState | undefined {
  const { generation, replacedAt } = state
  const age = generation - presented
  const late = age > 0
  if (late && grace === 0) return undefined
  // The time of a process whose clock is ahead is within `grace` too.
  const isRecent = (time = Number.NaN) => presentedAt - time <= grace && time - presentedAt <= MOST_AHEAD
  if (isRecent(replacedAt[late ? age - 1 : MOST_TIMES - 1])) return state
  // Its time changes, because a second tab may present it after the first one has used the successor.
  if (state.late && age === FORGIVEN_AGE) {
    return { ...state, replacedAt: replacedAt.map((time, i) => (i === age - 1 ? now : time)) }
  }
  if (late && (age > 1 || state.late)) return undefined
  const [oldest, next] = [Math.min(generation, presented), Math.max(generation, presented) + 1]
  // Also of a generation that was skipped or forgiven, because other tabs may still present it.
  const replaced: number[] = Array(Math.min(next - oldest, MOST_TIMES)).fill(now)
  const times = [...replaced, ...replacedAt.slice(generation - oldest)].slice(0, MOST_TIMES)
  return { ...state, generation: next, replacedAt: times, late }
}
