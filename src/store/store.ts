import { CODE_METHODS, type CodeStore, isCodeStore } from '../codes/codes.js'
import { type Check, InvalidOption } from '../options/read-options.js'
import { bare, isPlainObject, memberOf } from '../options/values.js'
import type { SessionStore } from '../sessions/session.js'
import { isSessionStore, sessionsOfStore } from '../sessions/store-option.js'

/** The store of an app: `memoryStore()`, one of a database, or your own. */
export interface Store {
  /** Stores the sessions. */
  readonly sessions: SessionStore
  /** Stores the codes that work once. */
  readonly codes: CodeStore
}

/** A store whose sessions have every method. */
export interface WholeStore extends Store {
  /** Stores the sessions, also those with refresh tokens. */
  readonly sessions: Required<SessionStore>
}

/** Reads a store, which may have one of the two. */
export const storeOption: Check<Partial<Store>> = (value) => {
  if (!isPlainObject(value) || isSessionStore(value) || isCodeStore(value)) {
    throw new InvalidOption(
      'memoryStore(), or an object with "sessions", "codes" or both',
      isSessionStore(value)
        ? 'Pass { sessions } with this object'
        : isCodeStore(value)
          ? 'Pass { codes } with this object'
          : '',
    )
  }
  const codes = memberOf(value, 'codes')
  if (codes !== undefined && !isCodeStore(codes))
    throw new InvalidOption(`a store whose "codes" have ${CODE_METHODS.map((name) => `"${name}"`).join(', ')}`)
  const hasSessions = codes === undefined || memberOf(value, 'sessions') !== undefined
  return bare({ ...(hasSessions && { sessions: sessionsOfStore(value) }), ...(codes && { codes }) })
}
