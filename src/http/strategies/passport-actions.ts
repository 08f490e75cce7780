import type { AuthError } from '../../shared/errors.js'

/** The actions that Passport adds to a strategy for each request. */
export interface PassportActions {
  /** Authenticates the user. `info` becomes `req.authInfo`. */
  success(user: unknown, info?: object): void
  /** Refuses the credentials with a challenge and a status. Passport tries the next strategy, if there is one. */
  fail(challenge: string | undefined, status: number): void
  /** Continues without a user. */
  pass(): void
  /** Reports an error to the host's error handler. */
  error(error: unknown): void
}

/** Ends a strategy's verify callback: with an error, or with the user for `req.user`. Without a user the authentication fails. */
export type Done = (error: unknown, user?: unknown, info?: object) => void

/** The statuses of refused credentials. Passport tries the next strategy after them. */
const REFUSED_CREDENTIALS = new Set([400, 401, 403])

/** Reports a refusal: a failure for refused credentials, an error for everything else, for example a dependency that is down. */
export function failOrError(actions: PassportActions, error: AuthError, challenge?: string): void {
  if (REFUSED_CREDENTIALS.has(error.status)) actions.fail(challenge, error.status)
  else actions.error(error)
}

/** Reports success with a user, after the verify callback where there is one. */
export function succeed(actions: PassportActions, user: object, info: object, verify?: (done: Done) => unknown): void {
  if (!verify) actions.success(user, info)
  else
    verify((error, changed, changedInfo = info) => {
      if (error) actions.error(error)
      else if (changed) actions.success(changed, changedInfo)
      else actions.fail(undefined, 401)
    })
}
