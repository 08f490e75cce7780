import { hasMethods } from '../options/checks.js'
import { type Check, InvalidOption } from '../options/read-options.js'
import { isPlainObject, memberOf } from '../options/values.js'
import type { SessionStore } from './session.js'

const METHODS: readonly (keyof SessionStore)[] = ['add', 'find', 'list', 'remove', 'removeAll', 'touch']

export const isSessionStore = (value: unknown): value is SessionStore => hasMethods(value, METHODS)

/** Reads the sessions of a store. */
export const sessionsOfStore: Check<SessionStore> = (value) => {
  const sessions = isPlainObject(value) ? memberOf(value, 'sessions') : undefined
  if (isSessionStore(sessions)) return sessions
  throw new InvalidOption(
    `memoryStore(), or an object { sessions } whose "sessions" have ${METHODS.map((name) => `"${name}"`).join(', ')}`,
    isSessionStore(value) ? 'Pass { sessions } with this object' : '',
  )
}
