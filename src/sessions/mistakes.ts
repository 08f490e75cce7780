import { warnOnce } from '../events/warnings.js'

/** The parts of an app that issue tokens or admit them. */
interface Parts {
  startsSessions?: boolean
  issuesWithout?: boolean
  checksSessions?: boolean
  admitsWithout?: boolean
}

/** The parts of each issuer. */
const partsOf = new WeakMap<object, Parts>()

function note(tokens: object, part: keyof Parts): void {
  const parts = partsOf.get(tokens) ?? {}
  parts[part] = true
  partsOf.set(tokens, parts)
  const { startsSessions, issuesWithout, checksSessions, admitsWithout } = parts
  if (startsSessions && admitsWithout) warnOnce('guardWithoutSessions')
  if (checksSessions && issuesWithout) warnOnce('routerWithoutSessions')
}

/** Notes a part that issues tokens. Warns when it and a guard of these tokens differ about sessions. */
export const noteIssuing = (tokens: object, store: object | undefined) =>
  note(tokens, store ? 'startsSessions' : 'issuesWithout')

/** The times from which guards look for sessions of tokens that this process issues, by their stores. Never, once a session has started. */
const guardedSince = new WeakMap<object, number>()

/** Notes a guard. Warns when it and a part that issues these tokens differ about sessions. */
export function noteGuard(tokens: object, store: object | undefined): void {
  note(tokens, store ? 'checksSessions' : 'admitsWithout')
  if (store && 'issue' in tokens && !guardedSince.has(store)) guardedSince.set(store, Date.now())
}

/** Notes that a session has started. */
export const noteStart = (store: object) => void guardedSince.set(store, Number.POSITIVE_INFINITY)

/** Notes a token that a guard refuses because it has no session. Warns when this process has never started one. */
export function noteMissing(store: object, issuedAt: Date): void {
  const since = guardedSince.get(store) ?? Number.POSITIVE_INFINITY
  if (issuedAt.getTime() >= since) warnOnce('noSessionStarted')
}
