import type { Settings } from './client-options.js'
import type { TokenClientState, TokenRequest } from './client-types.js'
import { type Grant, isToken } from './grant.js'
import { openSession, type Session } from './session.js'
import { backoff } from './sign-in/retry-delay.js'
import { createSignIn } from './sign-in/sign-in.js'
import { until } from './sign-in/waiting.js'
import { TokenClientError } from './token-client-error.js'

/** A replacement that an API refuses after a longer time has worked before. */
const NEW_MS = 20_000

/** Holds the token, and replaces it before it expires. */
export interface TokenHolder {
  /**
   * Returns a session whose token works, after a sign-in if necessary.
   * @param refused the session that must be replaced
   * @throws TokenClientError, or the error of `credentials`
   */
  get(request: TokenRequest, refused?: Session): Promise<Session>
  /**
   * Notes that an API refused a token.
   * @returns whether to get another token. False for up to 20 s after a new token that was refused too
   */
  refuse(session: Session, isInvalid: boolean): boolean
  signOut(): void
  onChange(listener: (state: TokenClientState) => void): () => void
  close(): void
}

export function createTokenHolder(settings: Settings): TokenHolder {
  const { tokenUrl, interactive } = settings
  const listeners = new Set<(state: TokenClientState) => void>()
  let current: Session | undefined
  let error: TokenClientState['error']
  let isClosed = false
  /** The time of the newest token or of the last sign-out. The client takes no older token of another tab. */
  let newest = 0
  /** The sign-in that all callers share. */
  let running: { result: Promise<Session>; stop: AbortController } | undefined
  /** New tokens that were refused at once, and the time without a sign-in that follows. */
  let useless = 0
  let resumeAt = 0

  const signIn = createSignIn(settings, (call, signal) => link.alone(call, signal))

  const link = settings.tabs({
    tokenUrl,
    held: () => (current && !current.isOld() ? current.grant : undefined),
    adopt: useOtherTabs,
    signedOut: forget,
    refused: signIn.refuse,
  })

  async function get({ signal, rejected }: TokenRequest, refused?: Session): Promise<Session> {
    if (isClosed || signal?.aborted) throw new TokenClientError('aborted')
    const held = current
    if (held && held.grant.token === rejected) refuse(held, true)
    if (held?.isUsable() && held !== refused) {
      if (held.isOld()) renew().catch(() => {})
      return held
    }
    try {
      return await until(signal, renew())
    } catch (failure) {
      // Another tab has signed in, or the old token still works for a moment.
      const works = current && !current.isRefused && current.left() > 0
      if (works && !signal?.aborted) return current as Session
      throw failure
    }
  }

  function renew(): Promise<Session> {
    if (running) return running.result
    const stop = new AbortController()
    const result = until(stop.signal, signInNow(stop.signal))
    running = { result, stop }
    result.catch(noteFailure).then(() => {
      if (running?.stop === stop) running = undefined
    })
    return result
  }

  async function signInNow(signal: AbortSignal): Promise<Session> {
    await link.ask()
    const grant = await signIn.run(signal)
    if (signal.aborted) throw new TokenClientError('aborted')
    link.tell(grant)
    return hold(grant)
  }

  function hold(grant: Grant): Session {
    const session = openSession(grant, current?.isRefused ?? false, interactive)
    current = session
    newest = grant.receivedAt
    error = undefined
    signIn.forgive()
    tell()
    return session
  }

  function useOtherTabs(grant: Grant): void {
    // A client that has signed out, or has not begun, takes no token.
    if (!(running || current) || !isToken(grant?.token) || !(grant.receivedAt > newest)) return
    // A message may have waited in a tab that was frozen.
    const isLive = grant.receivedAt + grant.lifetime > Date.now()
    if (!isLive || (current?.isUsable() && !current.isOld())) return
    hold(grant)
    running?.stop.abort()
  }

  function noteFailure(failure: Error & { code?: unknown; status?: unknown }): void {
    const { code, status } = Object(failure)
    if (code === 'aborted' || failure === error) return
    error = failure
    // Without a status, the refusal comes from another tab.
    if (code === 'refused' && status) link.tell('refused')
    tell()
  }

  function refuse(session: Session, isInvalid: boolean): boolean {
    if (session !== current) return true
    if (session.isReplacement) {
      session.isReplacement = false
      // The first useless token may be a second revocation.
      if (session.age() > NEW_MS) useless = 0
      else if (useless++) resumeAt = performance.now() + backoff(useless)
    }
    if (resumeAt > performance.now()) return false
    session.isRefused = true
    session.isInvalid ||= isInvalid
    return true
  }

  function forget(): void {
    const isNews = running || current || error
    running?.stop.abort()
    running = undefined
    current = undefined
    newest = Date.now()
    error = undefined
    signIn.forgive()
    // Otherwise a listener that signs out would call itself for ever.
    if (isNews) tell()
  }

  function tell(): void {
    const state = { expiresAt: current && Math.round(Date.now() + current.left()), error }
    // Not in this call, so that the fault of a listener is uncaught and disturbs nobody.
    for (const listener of listeners) queueMicrotask(() => listener(state))
  }

  return {
    get,
    refuse,
    signOut() {
      if (isClosed) return
      link.tell('sign-out')
      forget()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      listeners.clear()
      forget()
      isClosed = true
      link.close()
    },
  }
}
