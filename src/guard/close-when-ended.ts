// Not the globals, because connections must close also while a host's tests fake the timers.
import { clearInterval, setImmediate, setInterval } from 'node:timers'
import { steadyClock } from '../concurrency/steady-clock.js'
import { throwLater } from '../concurrency/throw-later.js'
import { AuthError } from '../errors/auth-error.js'
import { type Duration, duration } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { optional, readOptions } from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import { invalidToken } from '../tokens/verified-token.js'
import type { GuardedRequest } from './guard.js'
import { authOf, type BearerGuard } from './require-bearer.js'

/** The options of `closeWhenEnded`. */
export interface CloseWhenEndedOptions {
  /** Time between checks (1 s to 1 h). Default: `'30s'`. */
  every?: Duration | undefined
  /** Maximum time to keep the connection open while checks fail with a `5xx` status (1 s to 1 day). Default: `'5m'`. */
  keepFor?: Duration | undefined
}

const schema = {
  every: optional(duration(1000, 3_600_000), 30_000),
  keepFor: optional(duration(1000, 86_400_000), 300_000),
}

/** The connections that are looked at in one turn of the event loop. All of them may close, and closing takes time. */
const PER_TURN = 250
const connections = new Set<() => void>()
let timer: NodeJS.Timeout | undefined
let isLooking = false

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

async function lookAtAll(): Promise<void> {
  if (isLooking) return
  isLooking = true
  let looked = 0
  for (const look of connections) {
    look()
    looked++
    if (looked % PER_TURN === 0) await nextTurn()
  }
  isLooking = false
}

/** The most checks of one guard at the same time. Its other checks wait in order. */
const MOST_CHECKS = 32
const checks = new WeakMap<object, { running: number; readonly waiting: (() => Promise<void>)[] }>()

async function runCheck(guard: object, check: () => Promise<void>): Promise<void> {
  const ofGuard = checks.get(guard) ?? { running: 0, waiting: [] }
  checks.set(guard, ofGuard)
  ofGuard.waiting.push(check)
  if (ofGuard.running === MOST_CHECKS) return
  ofGuard.running++
  for (let next = ofGuard.waiting.shift(); next; next = ofGuard.waiting.shift()) {
    await next()
    // In another turn, so that many short checks do not delay requests.
    await nextTurn()
  }
  ofGuard.running--
}

/**
 * Closes a connection when its token ends: for WebSockets, server-sent events and other connections that outlive a request.
 *
 * Calls `close` once, at most one second after the token has expired. At regular intervals, `guard.authenticate` checks the request again.
 * When it refuses the request, or no check is successful for `keepFor`, calls `close` too.
 * All connections share one timer, and at most 250 of them close in one turn of the event loop. At most 32 checks of one guard run at
 * the same time. Other checks wait in the order in which they became due.
 * @param req the request that opened the connection, after the guard
 * @param guard the guard. It authenticates a copy of the request, so the request keeps its `auth`
 * @param close receives the refusal: an `AuthError`, or what `refuse` of the guard passes to `next`. An error that `close` throws is an
 * uncaught exception
 * @returns a function that cancels, for a connection that has closed
 * @throws TypeError naming the argument or the option that is not valid
 */
export function closeWhenEnded(
  req: GuardedRequest,
  guard: Pick<BearerGuard<unknown>, 'authenticate'>,
  close: (error: AuthError) => void,
  options?: CloseWhenEndedOptions,
): () => void {
  const auth = authOf(req)
  if (typeof memberOf(Object(guard), 'authenticate') !== 'function')
    throw misuse(
      'closeWhenEnded: the second argument must be a guard. Pass the guard that admitted the request',
      PAGE.sockets,
    )
  if (typeof close !== 'function')
    throw misuse(
      'closeWhenEnded: the third argument must be a function. Pass a function that closes the connection',
      PAGE.sockets,
    )
  const { every, keepFor } = readOptions<CloseWhenEndedOptions, typeof schema>('closeWhenEnded', options, schema)
  const expiresAt = auth.expiresAt.getTime()
  // A clock that is set back must neither delay a check nor prolong the token.
  const now = steadyClock(() => Date.now())
  let checkAt = now() + every
  /** The time at which the first check was due after the last successful check. */
  let uncheckedSince = Number.POSITIVE_INFINITY
  let failure: AuthError | undefined
  let isChecking = false

  function cancel(): void {
    connections.delete(look)
    if (connections.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function end(error: AuthError): void {
    cancel()
    try {
      close(error)
    } catch (thrown) {
      throwLater(thrown)
    }
  }

  async function check(): Promise<void> {
    try {
      if (connections.has(look) && !(await guard.authenticate(Object.create(req)))) throw new AuthError('invalid_token')
      failure = undefined
      uncheckedSince = Number.POSITIVE_INFINITY
    } catch (thrown) {
      failure = thrown as AuthError
      // Failures of the host's stores may end. All other refusals are final.
      if (!(Object(thrown).status >= 500) && connections.has(look)) end(failure)
    }
    isChecking = false
  }

  function look(): void {
    const time = now()
    if (time >= expiresAt) end(invalidToken('expired', auth))
    else if (time - uncheckedSince >= keepFor) end(failure ?? new AuthError('unavailable'))
    else if (time >= checkAt && !isChecking) {
      isChecking = true
      checkAt = time + every
      uncheckedSince = Math.min(uncheckedSince, time)
      void runCheck(guard, check)
    }
  }

  connections.add(look)
  timer ??= setInterval(lookAtAll, 1000).unref()
  return cancel
}
