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

/** Lets only the first action count, because a verify callback may call `done` twice. Returns whether an action was taken. */
export function firstAction(actions: PassportActions): PassportActions & { readonly taken: boolean } {
  let taken = false
  const first = (act: () => void) => {
    if (taken) return
    taken = true
    act()
  }
  return {
    success: (user, info) => first(() => actions.success(user, info)),
    fail: (challenge, status) => first(() => actions.fail(challenge, status)),
    pass: () => first(() => actions.pass()),
    error: (error) => first(() => actions.error(error)),
    get taken() {
      return taken
    },
  }
}

/** Reports success with a user, after the verify callback where there is one. Returns the result of the callback. */
export function succeed(
  actions: PassportActions,
  user: object,
  info: object,
  verify?: (done: Done) => unknown,
): unknown {
  if (!verify) return actions.success(user, info)
  return verify((error, changed, changedInfo = info) => {
    if (error) actions.error(error)
    else if (changed) actions.success(changed, changedInfo)
    else actions.fail(undefined, 401)
  })
}

/** Reports an error that was thrown before any action. A later error belongs to the host, whose callback threw it. */
export function reportError(actions: ReturnType<typeof firstAction>): (error: unknown) => void {
  return (error) => {
    if (actions.taken) throw error
    actions.error(error)
  }
}
