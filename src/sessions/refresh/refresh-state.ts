import { misuse, PAGE } from '../../options/misuse.js'

/** What a session remembers about its refresh tokens. The store holds it as one text. */
export interface RefreshState {
  /** The generation of the current refresh token. A sign-in has 0. */
  generation: number
  /**
   * The times at which the generations before were replaced, in milliseconds: of `generation - 1` first. Only times that were within `grace`
   * at the last change.
   */
  replacedAt: readonly number[]
  /** True when the last change came from a token that had been replaced long before. A second one in a row is reuse. */
  late: boolean
  /** False for a session that ends with the browser. */
  remember: boolean
  /** A digest of the account's password hash. Empty when the next refresh shall take the account's hash as it is. */
  passwordTag: string
}

/** The most generations within `grace`. Then the current one stays, so that no honest request can be older than what is remembered. */
const MOST_RECENT = 8

/** The most by which clocks differ, in milliseconds. A clock that was much further ahead must not stop the rotation until then. */
const MOST_AHEAD = 60_000

const FORM = /^1\.(\d{1,15})\.([01])([01])\.([\w-]{0,16})((?:\.\d{1,16}){0,8})$/

export function writeState({ generation, replacedAt, late, remember, passwordTag }: RefreshState): string {
  return ['1', generation, `${Number(late)}${Number(remember)}`, passwordTag, ...replacedAt].join('.')
}

/**
 * Reads what a store returned.
 * @throws TypeError when the store returned another text than the one that it was given
 */
export function readState(text: unknown): RefreshState {
  const [, generation, late, remember, passwordTag, times] = (typeof text === 'string' && FORM.exec(text)) || []
  if (passwordTag === undefined || times === undefined) {
    throw misuse('sessions: "refresh" must be the text that the store was given, unchanged', PAGE.sessions)
  }
  return {
    generation: Number(generation),
    replacedAt: times.split('.').slice(1).map(Number),
    late: late === '1',
    remember: remember === '1',
    passwordTag,
  }
}

/** Returns the state of a session that starts. */
export const firstState = (facts: Pick<RefreshState, 'remember' | 'passwordTag'>): RefreshState => ({
  ...facts,
  generation: 0,
  replacedAt: [],
  late: false,
})

/**
 * Decides about a refresh token whose signature is valid. An honest client presents a replaced token when several tabs refresh at once,
 * or when a response was lost. A thief and the owner of a token present replaced tokens in turn.
 *
 * - The current generation: the session moves to the next one.
 * - One that was replaced within `grace`: the current one again, without a change.
 * - The one before, later: forgiven once. The session moves on, and a second late one in a row is reuse.
 * - An older one: reuse.
 * - A later one than the current one: the store has lost what it had stored, so the session moves to the generation after it.
 * @returns the state to store, the same object when nothing changes, or undefined for reuse
 */
export function nextState(
  state: RefreshState,
  presented: number,
  { now, grace }: { now: number; grace: number },
): RefreshState | undefined {
  const { generation, replacedAt, late } = state
  // A clock that is behind the one of the last change counts as within `grace`.
  const recent = replacedAt.filter((time) => now - time <= grace && time - now <= MOST_AHEAD)
  const age = generation - presented
  if (age < 0) return { ...state, generation: presented + 1, replacedAt: [now], late: false }
  if (age === 0 && recent.length >= MOST_RECENT) return state
  if (age === 0) return { ...state, generation: generation + 1, replacedAt: [now, ...recent], late: false }
  if (age <= recent.length) return state
  // Twice: the forgiven token may come again from another tab, and the one that was skipped too.
  return age === 1 && !late ? { ...state, generation: generation + 1, replacedAt: [now, now], late: true } : undefined
}
