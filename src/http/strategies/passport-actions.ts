import type { AuthError } from '../../shared/errors.js'
import { throwLater } from '../../shared/host/throw-later.js'

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

/**
 * Returns the ways to end a request. Only the first one counts, because a verify callback may call `done` twice. Express receives what
 * an action throws, as if the action were called before `authenticate` returns. Without Express, the action throws.
 *
 * Call it when `authenticate` is called: Passport replaces the actions of a strategy that is passed as an object for the next request.
 * @param admit called before `success`
 */
export function outcomeOf(strategy: PassportActions, req: { next?: unknown }, admit: () => void = () => {}) {
  const { success, fail, pass, error } = strategy
  // Express's own functions, such as `res.render`, use this member too.
  const { next } = req
  let taken = false

  function toExpress(thrown: unknown): void {
    if (typeof next !== 'function') throw thrown
    next(thrown)
  }

  function act(action: () => void): void {
    if (taken) return
    taken = true
    try {
      action()
    } catch (thrown) {
      toExpress(thrown)
    }
  }

  function admitted(user: unknown, info: object): void {
    act(() => {
      admit()
      success(user, info)
    })
  }

  return {
    pass: () => act(pass),
    /** Reports a refusal: a failure for refused credentials, an error for everything else, for example a dependency that is down. */
    refuse(refusal: AuthError, challenge?: string): void {
      const { status } = refusal
      act(() => (REFUSED_CREDENTIALS.has(status) ? fail(challenge, status) : error(refusal)))
    },
    /** Reports success with a user, after the verify callback where there is one. */
    succeed(user: object, info: object, verify?: (done: Done) => unknown): void {
      if (!verify) {
        admitted(user, info)
        return
      }
      const done: Done = (failure, changed, changedInfo = info) => {
        if (failure) act(() => error(failure))
        else if (changed) admitted(changed, changedInfo)
        else act(() => fail(undefined, 401))
      }
      const verified = async () => verify(done)
      // Express receives an error that the callback throws after its end.
      verified()
        .catch((thrown) => (taken ? toExpress(thrown) : act(() => error(thrown))))
        .catch(throwLater)
    },
  }
}
