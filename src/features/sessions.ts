import type { Request } from 'express'
import { limitTasks } from '../concurrency/limit.js'
import { empty, json, type Schema } from '../http/declaration.js'
import { endpoint } from '../http/endpoint.js'
import { addressOf } from '../http/origin.js'
import { GUARDED_REQUESTS } from '../http/request-limits.js'
import { func, integer } from '../options/checks.js'
import { optional } from '../options/read-options.js'
import { type NewSession, type Session, sessionIdOf } from '../sessions/session.js'
import { type Sessions, withoutChange } from '../sessions/sessions.js'
import { anySession, type Feature, SESSIONS, user } from './feature.js'

/** The default path of the sessions of a user. */
export const SESSIONS_PATH = '/sessions'

export interface SessionsParts {
  sessions: Sessions
}

/** The options of the sessions of an app. */
export interface SessionsOptions {
  /** Maximum number of sessions per account, from 1 to 1,000. If a sign-in exceeds this limit, the oldest session ends. Default: `100`. */
  maxPerAccount?: number | undefined
  /**
   * Function `(req) => string`, sync or async, that returns the device name for the session list, truncated to 64 characters. Default: no
   * label.
   */
  sessionLabel?: ((req: Request) => Label | Promise<Label>) | undefined
}

/** @inline */
type Label = NewSession['label']

export const sessionsOptions = {
  maxPerAccount: optional(integer(1, 1000, 'a number of sessions')),
  sessionLabel: optional(func<NonNullable<SessionsOptions['sessionLabel']>>('a function')),
}

/** Limits the requests that wait for the store of sessions. */
const calls = limitTasks(GUARDED_REQUESTS)

const [HOUR, DAY] = [3_600_000, 86_400_000]

/**
 * Returns a session as a client may see it. A thief with the token of a session could otherwise see when its owner refreshes, and refresh
 * just then without being noticed.
 */
function shown({ accountId: _, createdAt, lastUsedAt, expiresAt, ...session }: Session) {
  const hour = Math.floor(+lastUsedAt / HOUR) * HOUR
  return {
    ...session,
    createdAt,
    expiresAt: new Date(Math.ceil(+expiresAt / DAY) * DAY),
    lastUsedAt: new Date(Math.max(hour, +createdAt)),
  }
}

const time: Schema = { type: 'string', format: 'date-time' }
const text = (description: string): Schema => ({ type: ['string', 'null'], description })

const session: Record<string, Schema> = {
  id: { type: 'string', description: "The id of the session's token. It gives no access." },
  createdAt: { ...time, description: 'The time of the sign-in.' },
  expiresAt: { ...time, description: 'The day after which the session has ended by itself: midnight in UTC.' },
  lastUsedAt: { ...time, description: 'The hour of the last request, or the time of a sign-in in that hour.' },
  address: text('The address of the sign-in.'),
  userAgent: text('The `User-Agent` of the sign-in.'),
  label: text('The name of the device.'),
  current: { type: 'boolean', description: 'True for the session of the request.' },
}

const SessionList: Schema = {
  type: 'object',
  required: ['sessions'],
  properties: {
    sessions: {
      type: 'array',
      items: { type: 'object', required: Object.keys(session), properties: session, additionalProperties: false },
    },
  },
  additionalProperties: false,
}

/** The sessions of the user: the list, the end of one, of all others and of the current one. */
export const sessionsFeature: Feature<SessionsParts> = {
  at: 'sessions',
  options: sessionsOptions,
  needs: { maxPerAccount: [SESSIONS], sessionLabel: [SESSIONS] },
  schemas: () => ({ SessionList }),
  endpoints: [
    endpoint({
      id: 'listSessions',
      method: 'GET',
      path: '/',
      guard: user,
      summary: 'List your sessions',
      description: 'The devices on which the account is signed in.',
      responses: { 200: json('SessionList', 'The sessions of the account, newest first.') },
      calls,
      handle:
        ({ sessions }: SessionsParts) =>
        async ({ auth }) => {
          const found = await sessions.list(auth.accountId)
          const current = sessionIdOf(auth)
          return { sessions: found.map((session) => ({ ...shown(session), current: session.id === current })) }
        },
    }),

    endpoint({
      id: 'endOtherSessions',
      method: 'DELETE',
      path: '/',
      guard: user,
      summary: 'End all other sessions',
      description: 'The current session continues.',
      responses: { 204: empty('Every API of this environment now refuses the tokens of the other sessions.') },
      calls,
      handle:
        ({ sessions }: SessionsParts) =>
        async ({ auth, req }) => {
          await sessions.endOthers(withoutChange(auth), addressOf(req))
        },
    }),

    endpoint({
      id: 'endSession',
      method: 'DELETE',
      path: '/{id}',
      guard: user,
      summary: 'End one session',
      description: 'Any session of the account, including the current one.',
      responses: {
        204: empty('Every API of this environment now refuses its token.'),
        404: 'unknown_session',
      },
      calls,
      handle:
        ({ sessions }: SessionsParts) =>
        async ({ auth, params, req, refuse }) => {
          if (!(await sessions.end(auth, params.id, addressOf(req)))) throw refuse('unknown_session')
        },
    }),

    endpoint({
      id: 'signOut',
      method: 'POST',
      path: '/sign-out',
      guard: anySession,
      summary: 'Sign out',
      description: 'Ends the session of the request.',
      responses: { 204: empty("Every API of this environment now refuses the request's token.") },
      calls,
      handle:
        ({ sessions }: SessionsParts) =>
        async ({ auth, req }) => {
          await sessions.end(auth, sessionIdOf(auth), addressOf(req))
        },
    }),
  ],
}
