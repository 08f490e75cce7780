import { misuse, PAGE } from '../options/misuse.js'
import { describe } from '../options/read-options.js'
import { isPlainObject, isValidDate, memberOf, parseJson } from '../options/values.js'

/** A sign-in on one device. It holds no token. */
export interface Session {
  /** The id of the session: `sid` of its tokens, or the token's `jti` for a session without refresh. It gives no access. */
  id: string
  /** The account that signed in. */
  accountId: string
  /** The time of the sign-in. Later than that of each earlier session of the account, also when the clocks of processes differ. */
  createdAt: Date
  /** The end of the session: the expiration of its token, or the end that a refresh has set. The store may delete the session from then on. */
  expiresAt: Date
  /** The last use of the session, at most one minute older than the real one. The time of the sign-in for an unused token. */
  lastUsedAt: Date
  /** The address of the client that signed in, at most 64 characters. */
  address: string | null
  /** The `User-Agent` of the client that signed in, at most 256 characters. */
  userAgent: string | null
  /** The name of the device, at most 64 characters. */
  label: string | null
  /**
   * The state of its refresh tokens: a text of at most 255 ASCII characters, which holds no secret. Null for a session
   * without refresh. Only stores receive it.
   */
  refresh?: string | null
  /**
   * The terms of its sign-in, for all its tokens: a text of at most 2,048 ASCII characters, or null. Only stores receive it.
   */
  terms?: string | null
  /** The data that the host has set with `auth.sessions.update`: a JSON object as a text of at most 4,096 characters, or null. Only stores receive it. */
  data?: string | null
}

/** The members of a session that a refresh changes. */
export type SessionChange = Required<Pick<Session, 'expiresAt' | 'lastUsedAt'>> & {
  /** The state of the refresh tokens after it. */
  refresh: string
  /** The terms of the sign-in, from a refresh token of an earlier release. Default: the terms stay as they are. */
  terms?: string
}

/** A session that starts: the facts of a new token, and of the client that signed in. */
export interface NewSession {
  /** The id of the token, as `issue` returns it, or the id of a session with refresh. */
  id: string
  /** The account of the token. */
  accountId: string
  /** The expiration of the token, as `issue` returns it, or the end of a session with refresh. */
  expiresAt: Date
  /** The client's address. Default: none. */
  address?: string | null | undefined
  /** The client's `User-Agent`. Default: none. */
  userAgent?: string | null | undefined
  /** A name of the device for its user. Default: none. */
  label?: string | null | undefined
  /** The first state of a session with refresh. Default: a session without refresh. */
  refresh?: string | null | undefined
  /** The terms of its sign-in, for its refreshes. Default: none. */
  terms?: string | null | undefined
}

/** The members of a session that a guard needs. A refresh needs the others too. */
export type FoundSession = Pick<Session, 'accountId' | 'lastUsedAt'> & {
  /** The time of the sign-in. */
  createdAt?: Date | undefined
  /** The end of the session. */
  expiresAt?: Date | undefined
  /** The text that the store was given, unchanged. */
  refresh?: string | null | undefined
  /** The text that the store was given, unchanged. */
  terms?: string | null | undefined
  /** The text that the store was given, unchanged. */
  data?: string | null | undefined
}

/** The members of a session that a guard reads from what the store has found. */
export interface SessionFacts {
  readonly accountId: string
  readonly lastUsedAt: Date
  /** Undefined where the store returns none. */
  readonly expiresAt: Date | undefined
  /** The data that the host has set. */
  readonly data: Readonly<Record<string, unknown>> | undefined
}

/** The host's store of sessions. Each method may return a promise. A method that throws or is too slow causes a `503`. */
export interface SessionStore {
  /**
   * Stores a session. Sessions of the same account stay. If the store has the id already, it keeps the stored session: it throws, or stores
   * nothing.
   */
  add(session: Session): unknown
  /**
   * Finds a session by its id, or returns `null` or `undefined`. Called for every guarded request, which reads only `accountId`,
   * `lastUsedAt`, `data` and `expiresAt`: from then on the session has ended. A refresh also reads `createdAt`, `refresh` and `terms`, and
   * requires `expiresAt`.
   */
  find(id: string): FoundSession | null | undefined | Promise<FoundSession | null | undefined>
  /** Returns the sessions of an account, in any order. Expired ones may be among them. */
  list(accountId: string): readonly Session[] | Promise<readonly Session[]>
  /** Removes a session, if it is this account's. Returns whether it removed one: of two calls at once, one returns true. */
  remove(id: string, accountId: string): boolean | Promise<boolean>
  /** Removes the sessions of an account: all of them, or all but one. Returns whether it removed any. */
  removeAll(accountId: string, exceptId?: string): boolean | Promise<boolean>
  /** Sets `lastUsedAt` of a session. A session that was removed must stay removed. */
  touch(id: string, lastUsedAt: Date): unknown
  /**
   * Changes a session, if its `refresh` is still `from` (compare and swap): only the members of `to`. Required for the option `refresh`. A session that was removed
   * must stay removed. Returns whether it changed the session: of two calls at once with the same `from`, one returns true.
   */
  replace?(id: string, from: string, to: SessionChange): boolean | Promise<boolean>
  /**
   * Sets `data` of a session, and nothing else. Required for `auth.sessions.update`. A session that was removed must stay removed. Returns
   * whether there is such a session.
   */
  update?(id: string, data: string): boolean | Promise<boolean>
}

/** Returns the id of a token's session: of a token without `sid`, the token's own. */
export const sessionIdOf = (auth: { readonly id?: string; readonly sessionId?: string | undefined }): string =>
  (memberOf(auth, 'sessionId') ?? memberOf(auth, 'id')) as string

/** The longest texts of a session, in characters (code points). `newSession` cuts longer texts. */
export const LONGEST_TEXTS = { address: 64, userAgent: 256, label: 64 } as const

/** The ids that a store receives: printable ASCII. Anyone who is signed in can send an id. */
const ID = /^[\x21-\x7e]{1,255}$/

export const isSessionId = (id: unknown): id is string => typeof id === 'string' && ID.test(id)

/**
 * Creates the record of a session.
 * @throws TypeError that names the invalid member
 */
export function newSession(given: NewSession, now: number): Session {
  const caller = 'sessions.start'
  const id = textIn(caller, given, 'id')
  if (!isSessionId(id)) throw wrong(caller, '"id" must be printable ASCII of at most 255 characters', id)
  const [accountId, expiresAt] = [textIn(caller, given, 'accountId'), dateIn(caller, given, 'expiresAt')]
  const [createdAt, lastUsedAt] = [new Date(now), new Date(now)]
  const refresh = (memberOf(given, 'refresh') as NewSession['refresh']) ?? null
  const terms = (memberOf(given, 'terms') as NewSession['terms']) ?? null
  return { id, accountId, createdAt, expiresAt, lastUsedAt, ...textsOf(caller, given, cut), refresh, terms, data: null }
}

/**
 * Reads what `find` of a store returned, and copies its members.
 * @throws TypeError that names the invalid member. The store is wrong, not the client
 */
export function readFound(caller: string, original: unknown): SessionFacts | undefined {
  if (original === undefined || original === null) return undefined
  const [accountId, lastUsedAt] = [textIn(caller, original, 'accountId'), dateIn(caller, original, 'lastUsedAt')]
  const hasEnd = memberOf(original, 'expiresAt') != null
  const expiresAt = hasEnd ? dateIn(caller, original, 'expiresAt') : undefined
  return { accountId, lastUsedAt, expiresAt, data: dataIn(original) }
}

/** Reads the data of the host. A SyntaxError of JSON.parse would show a part of it. */
function dataIn(original: object): SessionFacts['data'] {
  const text = memberOf(original, 'data') ?? null
  if (text === null) return undefined
  const data = typeof text === 'string' ? parseJson(text) : undefined
  if (!isPlainObject(data)) throw unchanged('data')
  return data
}

/** Reads a session of a list, as `readFound` reads the one of `find`. */
export function readSession(caller: string, original: unknown): Session | undefined {
  if (original === undefined || original === null) return undefined
  const [id, accountId] = [textIn(caller, original, 'id'), textIn(caller, original, 'accountId')]
  const [createdAt, expiresAt] = [dateIn(caller, original, 'createdAt'), dateIn(caller, original, 'expiresAt')]
  const lastUsedAt = dateIn(caller, original, 'lastUsedAt')
  return { id, accountId, createdAt, expiresAt, lastUsedAt, ...textsOf(caller, original, (text) => text) }
}

function textIn(caller: string, original: object, name: 'id' | 'accountId'): string {
  if (!isPlainObject(original)) throw wrong(caller, 'a session must be an object', original)
  const value = memberOf(original, name)
  if (typeof value !== 'string' || value === '') throw wrong(caller, `"${name}" must be a non-empty string`, value)
  return value
}

/** Copies a date, because a reader may change it. */
export function dateIn(caller: string, original: object, name: 'createdAt' | 'expiresAt' | 'lastUsedAt'): Date {
  const value = memberOf(original, name)
  if (!isValidDate(value)) throw wrong(caller, `"${name}" must be a valid Date`, value)
  return new Date(value.getTime())
}

type Texts = Pick<Session, keyof typeof LONGEST_TEXTS>

function textsOf(caller: string, original: object, change: (text: string, most: number) => string): Texts {
  const texts = Object.entries(LONGEST_TEXTS).map(([name, most]) => {
    const value = memberOf(original, name) ?? null
    if (value !== null && typeof value !== 'string') throw wrong(caller, `"${name}" must be a string or null`, value)
    return [name, value === null ? null : change(value, most) || null]
  })
  return Object.fromEntries(texts) as Texts
}

/**
 * Characters that a page or a database may misread: control characters, marks that change the direction of writing, halves of surrogate
 * pairs, ends of lines, and invisible characters. U+2800 is an empty braille pattern.
 */
const UNREADABLE = /[\p{C}\p{DI}\p{Zl}\p{Zp}\u2800]/gu

/** Cuts a text of a client, and removes what is unreadable. */
function cut(text: string, most: number): string {
  const plain = text
    .slice(0, 4 * most)
    .replace(UNREADABLE, '')
    .trim()
  return [...plain].slice(0, most).join('').trim()
}

/** Returns the error about a text that a store has lost or changed. */
export const unchanged = (name: 'refresh' | 'terms' | 'data') =>
  misuse(`sessions: "${name}" must be the string that the store received, unchanged`, PAGE.stores)

const wrong = (caller: string, what: string, value: unknown) =>
  misuse(`${caller}: ${what}, but is ${describe(value)}`, PAGE.stores)
