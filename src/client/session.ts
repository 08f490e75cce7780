import { assertOpen, createController, until } from './abort.js'
import { assertUsage, type ClientSettings } from './client-options.js'
import type { SignInError, TokenRequest } from './client-types.js'
import { type Countdown, startCountdown } from './countdown.js'
import type { Grant } from './grant.js'
import { type HeldToken, holdToken } from './held-token.js'
import type { Refusals } from './sign-in/attempts.js'
import { backoff } from './sign-in/retry-delay.js'
import type { ClientSignIn, SignInCall } from './sign-in/sign-in.js'
import { TokenClientError } from './token-client-error.js'

/** A replacement that an API refuses after a longer time has worked before. */
const NEW_MS = 20_000

/** The number of tokens that a session keeps, to recognise the one that a caller passes as rejected. */
const MOST_RECENT_TOKENS = 16

export type ClientSession = ReturnType<typeof openSession>

/**
 * Begins a session: the time from one sign-out to the next, or to the sign-in of another tab. A call belongs to the session in which it
 * begins, so it never gets the token of the next person.
 * @param changed called after each sign-in and failed sign-in
 */
export function openSession({ interactive, refresh }: ClientSettings, signIn: ClientSignIn, changed: () => void) {
  const over = createController()
  /** The newest token. */
  let held: HeldToken | undefined
  /** The failure of the last sign-in. */
  let error: SignInError | undefined
  let recentTokens: string[] = []
  let refusals: Refusals = {}
  /** The refresh that all callers share. Undefined when the session at the server is over. */
  let refreshed: Promise<HeldToken | undefined>
  /** The same, or the sign-in with credentials that follows. */
  let renewal: Promise<HeldToken | undefined> | undefined
  /** True when one of the callers may ask for credentials. */
  let mayAsk = false
  /** The number of calls that wait for the renewal. */
  let waiting = 0
  /** New tokens that were refused at once, and the time without a sign-in that follows. */
  let useless = 0
  let pause: Countdown = () => 0
  /** True when the last refresh found no session at the server. */
  let cannotRefresh = false
  /** Ends the running refresh or form. */
  let stop = createController()
  let asking = false
  /** True when only a person can renew the token. */
  const isTyped = interactive && !refresh
  /** A token that may be the reason why a connection broke. */
  let doubted: HeldToken | undefined
  const isAwaited = () => waiting > 0

  /**
   * Throws when the session has ended, and after the sign-in of another tab until the page restores that session or signs in.
   * @throws TokenClientError
   */
  function assertCurrent(): void {
    assertOpen(over.signal)
    if (signIn.tabs.isOver()) throw new TokenClientError('signed_out')
  }

  /**
   * Returns a token that works, after a sign-in if necessary.
   * @param refused the token that must be replaced
   * @throws TokenClientError, the error of `credentials`, or the reason of the caller's signal
   */
  async function get({ signal, rejected }: TokenRequest, refused?: HeldToken): Promise<HeldToken> {
    if (signal) assertOpen(signal)
    assertCurrent()
    if (rejected) {
      // Otherwise a call of one person would get the token of the next.
      if (!recentTokens.includes(rejected)) throw new TokenClientError('signed_out')
      if (held?.token === rejected) refuse(held)
    }
    const usable = held?.works() && held !== refused && held !== doubted ? held : undefined
    doubted = undefined
    if (usable && usable.left() <= usable.old && !(interactive && cannotRefresh)) renew(!interactive)
    const token = await (usable ?? newToken(signal))
    // The session may have ended in the same turn of the event loop.
    assertCurrent()
    return token
  }

  async function newToken(signal: TokenRequest['signal']): Promise<HeldToken> {
    assertUsage(!signIn.asking, '"credentials" must not call its own client')
    // A refresh that ended meanwhile has asked for no credentials.
    return (await wait(() => renew(true), signal)) ?? newToken(signal)
  }

  /** @param renewed begins the renewal, which asks immediately whether a call waits */
  async function wait(renewed: () => typeof refreshed, signal?: TokenRequest['signal']): typeof refreshed {
    waiting++
    try {
      return await until(signal, renewed())
    } catch (failure) {
      // The app has signed in, or the old token still works for a moment.
      if (held && held.left() > 0 && !signal?.aborted) return held
      throw failure
    } finally {
      waiting--
    }
  }

  function renew(asks: boolean): typeof refreshed {
    mayAsk ||= asks
    renewal ??= startRenewal()
    return renewal
  }

  function startRenewal(): typeof refreshed {
    refreshed = refreshNow()
    const result = refreshed.then((token) => token ?? (mayAsk ? ask() : token))
    result
      .catch((failure) => stop.signal.aborted || fail(failure))
      .then(() => {
        renewal = undefined
        mayAsk = asking = false
      })
    return result
  }

  function ask(): typeof refreshed {
    stop = createController()
    asking = true
    return receive((signal) => signIn.ask(refusals, signal, isAwaited), stop)
  }

  async function refreshNow(): typeof refreshed {
    if (refusals.final) return undefined
    const before = held
    stop = createController()
    try {
      const token = await receive((signal) => signIn.refresh(signal, isAwaited), stop)
      cannotRefresh = !token
      return token
    } catch (failure) {
      if (!stop.signal.aborted || over.signal.aborted) throw failure
      // A sign-in of the app has ended it, and may have failed.
      return held === before ? refreshNow() : held
    }
  }

  async function receive(
    call: (signal: AbortSignal) => Promise<Grant | undefined>,
    { signal }: AbortController,
  ): typeof refreshed {
    assertOpen(over.signal)
    const grant = await call(signal)
    assertOpen(signal)
    return grant && hold(grant)
  }

  function hold(grant: Grant): HeldToken {
    held = holdToken(grant, !!held?.refused, isTyped)
    cannotRefresh = false
    recentTokens = [grant.token, ...recentTokens].slice(0, MOST_RECENT_TOKENS)
    error = grant.error
    refusals = {}
    changed()
    return held
  }

  /**
   * Notes that an API refused a token.
   * @returns whether to get another token. False for up to 20 s after a new token that was refused too
   */
  function refuse(token: HeldToken): boolean {
    if (token !== held) return true
    if (token.replaces) {
      token.replaces = false
      // The first useless token may be a second revocation.
      if (token.age() > NEW_MS) useless = 0
      else if (useless++) pause = startCountdown(backoff(useless))
    }
    if (pause() > 0) return false
    token.refused = true
    token.left = () => 0
    return true
  }

  /** Notes the failure of a sign-in. */
  function fail(failure: SignInError): void {
    // Each call gets the refusal of the first.
    if (over.signal.aborted || failure === error) return
    error = failure
    changed()
  }

  return {
    /** Aborts at the end, with the error for the calls that wait. */
    over: over.signal as AbortSignal,
    get held() {
      return held
    },
    get error() {
      return error
    },
    get,
    refuse,
    fail,
    /**
     * Returns whether there is a token, after a refresh if necessary.
     * @throws TokenClientError, or the error of the storage
     */
    async restore(): Promise<boolean> {
      assertOpen(over.signal)
      if (held?.works()) return true
      const token = await wait(() => {
        renew(false)
        return refreshed
      })
      return !!token
    },
    /**
     * Signs in with another call, in place of the held token, a running refresh and a form.
     * @throws TokenClientError, or the error of the function
     */
    async signIn(call: SignInCall): Promise<void> {
      assertOpen(over.signal)
      const signedIn = receive((signal) => signIn.own(call, signal), over)
      const replaced = new TokenClientError('signed_out')
      if (!asking) stop.abort(replaced)
      await signedIn
      stop.abort(replaced)
    },
    /**
     * Replaces the held token with that of a step-up, whose refresh token stays the same.
     * @throws TokenClientError
     */
    stepUp: (call: () => Promise<Grant | undefined>) => receive(call, over),
    /**
     * Doubts a token after its connection broke: a server may refuse a request before it has read the body. The next call renews the token.
     * @returns false for a token that is not the reason, or that only a person can renew
     */
    doubt(token: HeldToken): boolean {
      if (token.age() > NEW_MS && !isTyped) doubted = token
      return token === doubted
    },
    /**
     * Deletes the token, and ends a running sign-in.
     * @returns undefined when there was nothing to end
     */
    end(reason: TokenClientError): unknown {
      const ended = renewal || held || error
      over.abort(reason)
      stop.abort(reason)
      held = error = undefined
      return ended
    },
  }
}
