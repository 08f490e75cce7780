import { assertOpen, createController, reasonOf, until } from './abort.js'
import { assertUsage, type ClientSettings } from './client-options.js'
import type { OwnSignIn, SignInError, TokenRequest } from './client-types.js'
import type { Grant } from './grant.js'
import { type HeldToken, holdToken } from './held-token.js'
import type { Refusals } from './sign-in/attempts.js'
import { backoff } from './sign-in/retry-delay.js'
import type { ClientSignIn } from './sign-in/sign-in.js'
import { TokenClientError } from './token-client-error.js'

/** A replacement that an API refuses after a longer time has worked before. */
const NEW_MS = 20_000

/** The number of tokens that a session keeps, to recognise the one that a caller passes as rejected. */
const MOST_RECENT_TOKENS = 16

/** A renewal that all callers share. */
interface Renewal {
  /** True when one of the callers may ask for credentials. */
  mayAsk: boolean
  /** Undefined when the session at the server is over. */
  readonly refreshed: Promise<HeldToken | undefined>
  readonly result: Promise<HeldToken | undefined>
}

export type ClientSession = ReturnType<typeof openSession>

/**
 * Begins a session: the time from one sign-out to the next, or to the sign-in of another tab. A call belongs to the session in which it
 * begins, so it never gets the token of the next person.
 * @param changed called after each sign-in and failed sign-in
 */
export function openSession({ interactive, refresh }: ClientSettings, signIn: ClientSignIn, changed: () => void) {
  const over = createController()
  let recentTokens: string[] = []
  let refusals: Refusals = {}
  let renewal: Renewal | undefined
  /** The number of calls that wait for it. */
  let waiting = 0
  /** New tokens that were refused at once, and the time without a sign-in that follows. */
  let useless = 0
  let resumeAt = 0
  /** True when the last refresh found no session at the server. */
  let cannotRefresh = false
  /** Ends the running refresh or form. */
  let stop = createController()
  let isAsking = false
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
    if (signal?.aborted) throw reasonOf(signal)
    assertCurrent()
    const { held } = session
    if (rejected) {
      // Otherwise a call of one person would get the token of the next.
      if (!recentTokens.includes(rejected)) throw new TokenClientError('signed_out')
      if (held?.grant.token === rejected) refuse(held, true)
    }
    const usable = held?.isUsable() && held !== refused && held !== doubted ? held : undefined
    doubted = undefined
    if (usable?.isOld() && !(interactive && cannotRefresh)) renew(!interactive)
    const token = await (usable ?? newToken(signal))
    // The session may have ended in the same turn of the event loop.
    assertCurrent()
    return token
  }

  async function newToken(signal: TokenRequest['signal']): Promise<HeldToken> {
    assertUsage(!signIn.isAsking, '"credentials" must not call its own client')
    // A refresh that ended meanwhile has asked for no credentials.
    return (await wait(() => renew(true).result, signal)) ?? newToken(signal)
  }

  /** @param renewed begins the renewal, which asks immediately whether a call waits */
  async function wait(
    renewed: () => Renewal['result'],
    signal?: TokenRequest['signal'],
  ): Promise<HeldToken | undefined> {
    waiting++
    try {
      return await until(signal, renewed())
    } catch (failure) {
      // The app has signed in, or the old token still works for a moment.
      const { held } = session
      if (held && !held.isRefused && held.left() > 0 && !signal?.aborted) return held
      throw failure
    } finally {
      waiting--
    }
  }

  function renew(mayAsk: boolean): Renewal {
    renewal ??= startRenewal()
    renewal.mayAsk ||= mayAsk
    return renewal
  }

  function startRenewal(): Renewal {
    const refreshed = refreshNow()
    const result: Renewal['result'] = refreshed.then((held) => held ?? (begun.mayAsk ? ask() : held))
    result
      .catch((failure) => stop.signal.aborted || session.fail(failure))
      .then(() => {
        renewal = undefined
        isAsking = false
      })
    const begun: Renewal = { mayAsk: false, refreshed, result }
    return begun
  }

  function ask(): Renewal['result'] {
    stop = createController()
    isAsking = true
    return receive((signal) => signIn.withCredentials(refusals, signal, isAwaited), stop)
  }

  async function refreshNow(): Promise<HeldToken | undefined> {
    const { held } = session
    // A token that works and is refused needs a more recent sign-in.
    if (refusals.final || (held?.isRefused && held.left() > 0)) return undefined
    stop = createController()
    try {
      const token = await receive((signal) => signIn.refresh(signal, isAwaited), stop)
      cannotRefresh = !token
      return token
    } catch (error) {
      if (!stop.signal.aborted || over.signal.aborted) throw error
      // A sign-in of the app has ended it, and may have failed.
      return session.held === held ? refreshNow() : session.held
    }
  }

  async function receive(
    call: (signal: AbortSignal) => Promise<Grant | undefined>,
    { signal }: AbortController,
  ): Promise<HeldToken | undefined> {
    assertOpen(over.signal)
    const grant = await call(signal)
    assertOpen(signal)
    return grant && hold(grant)
  }

  function hold(grant: Grant): HeldToken {
    const held = holdToken(grant, session.held?.isRefused ?? false, isTyped)
    cannotRefresh = false
    recentTokens = [grant.token, ...recentTokens].slice(0, MOST_RECENT_TOKENS)
    session.held = held
    session.error = signIn.error
    refusals = {}
    changed()
    return held
  }

  /**
   * Notes that an API refused a token.
   * @returns whether to get another token. False for up to 20 s after a new token that was refused too
   */
  function refuse(token: HeldToken, isInvalid: boolean): boolean {
    if (token !== session.held) return true
    if (token.isReplacement) {
      token.isReplacement = false
      // The first useless token may be a second revocation.
      if (token.age() > NEW_MS) useless = 0
      else if (useless++) resumeAt = performance.now() + backoff(useless)
    }
    if (resumeAt > performance.now()) return false
    token.isRefused = true
    token.isInvalid ||= isInvalid
    return true
  }

  const session = {
    /** Aborts at the end, with the error for the calls that wait. */
    over: over.signal as AbortSignal,
    /** The newest token. */
    held: undefined as HeldToken | undefined,
    /** The failure of the last sign-in. */
    error: undefined as SignInError | undefined,
    get,
    refuse,
    /**
     * Returns whether there is a token, after a refresh if necessary.
     * @throws TokenClientError, or the error of the storage
     */
    async restore(): Promise<boolean> {
      assertOpen(over.signal)
      return !!(session.held?.isUsable() || (await wait(() => renew(false).refreshed)))
    },
    /**
     * Signs in with a function of the app, in place of the held token, a running refresh and a form.
     * @throws TokenClientError, or the error of the function
     */
    async signIn(call: OwnSignIn): Promise<void> {
      assertOpen(over.signal)
      const signedIn = receive((signal) => signIn.withOwn(call, signal), over)
      const replaced = new TokenClientError('signed_out')
      if (!isAsking) stop.abort(replaced)
      await signedIn
      stop.abort(replaced)
    },
    /**
     * Doubts a token after its connection broke: a server may refuse a request before it has read the body. The next call renews the token.
     * @returns false for a token that is not the reason, or that only a person can renew
     */
    doubt(token: HeldToken): boolean {
      if (token.age() > NEW_MS && !isTyped) doubted = token
      return token === doubted
    },
    /** Notes the failure of a sign-in. */
    fail(failure: SignInError): void {
      // Each call gets the refusal of the first.
      if (over.signal.aborted || failure === session.error) return
      session.error = failure
      changed()
    },
    /**
     * Deletes the token, and ends a running sign-in.
     * @returns undefined when there was nothing to end
     */
    end(reason: TokenClientError): unknown {
      const ended = renewal || session.held || session.error
      over.abort(reason)
      stop.abort(reason)
      session.held = session.error = undefined
      return ended
    },
  }
  return session
}
