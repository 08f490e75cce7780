import { CODE_METHODS, type CodeStore, isCodeStore } from '../codes/codes.js'
import { FACTOR_METHODS, type FactorStore, isFactorStore } from '../factors/factor-store.js'
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
  /** Stores the second factors, the passkeys and the API keys. */
  readonly factors: FactorStore
}

/** A store whose sessions have every method. */
export interface WholeStore extends Store {
  /** Stores the sessions, also those with refresh tokens. */
  readonly sessions: Required<SessionStore>
}

/** Returns the name of the part that an object is. Sessions come first, because they may have the methods of factors too. */
function partOf(value: unknown): keyof Store | undefined {
  if (isSessionStore(value)) return 'sessions'
  if (isCodeStore(value)) return 'codes'
  return isFactorStore(value) ? 'factors' : undefined
}

/** Returns a part of a store, or undefined for a store without it. */
function readPart<Part>(
  store: object,
  name: 'codes' | 'factors',
  isPart: (value: unknown) => value is Part,
  methods: readonly string[],
): Part | undefined {
  const part = memberOf(store, name)
  if (part === undefined || isPart(part)) return part
  throw new InvalidOption(`a store whose "${name}" have ${methods.map((method) => `"${method}"`).join(', ')}`)
}

/** Reads a store, which may have only some of the parts. */
export const storeOption: Check<Partial<Store>> = (value) => {
  const part = partOf(value)
  if (!isPlainObject(value) || part) {
    throw new InvalidOption(
      'memoryStore(), or an object with "sessions", "codes" or "factors"',
      part ? `Pass { ${part} } with this object` : '',
    )
  }
  const codes = readPart(value, 'codes', isCodeStore, CODE_METHODS)
  const factors = readPart(value, 'factors', isFactorStore, FACTOR_METHODS)
  const hasSessions = !(codes || factors) || memberOf(value, 'sessions') !== undefined
  return bare({
    ...(hasSessions && { sessions: sessionsOfStore(value) }),
    ...(codes && { codes }),
    ...(factors && { factors }),
  })
}
