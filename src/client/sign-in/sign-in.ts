import { assertOpen, createController } from '../abort.js'
import { assertUsage, type ClientSettings } from '../client-options.js'
import type { Grant } from '../grant.js'
import type { TokenClientError } from '../token-client-error.js'
import { createAttempts, type Refusals } from './attempts.js'
import { storageOf } from './refresh-storage.js'
import { createTabs } from './tabs.js'
import { callTokenEndpoint, SIGN_OUT, type TokenResponse } from './token-call.js'

/** A sign-in with a function of the app, or with a mailed code. */
export type SignInCall = (signal: AbortSignal) => Promise<TokenResponse>

export type ClientSignIn = ReturnType<typeof createSignIn>

/** Creates the sign-in of one client: with credentials, with the refresh token of an earlier one, and its end. */
export function createSignIn(settings: ClientSettings) {
  const storage = storageOf(settings)
  const tabs = createTabs(settings)
  const isCookie = settings.refresh === 'cookie'
  const attempts = createAttempts(settings)

  /** Keeps the refresh token of a response. */
  async function keep([grant, refreshToken]: TokenResponse, signal: AbortSignal): Promise<Grant | undefined> {
    // A sign-out may have deleted the refresh token.
    assertOpen(signal)
    try {
      await storage?.save(refreshToken as string)
      return grant
    } catch (error) {
      return grant && { ...grant, error: error as Error }
    }
  }

  /** Signs in, and begins a new session for the other tabs. */
  async function begin(call: () => Promise<TokenResponse>, signal: AbortSignal): Promise<Grant | undefined> {
    // A sign-out of another tab while the request is under way ends this session too.
    const note = tabs.note()
    const response = await call().catch((error) => {
      // Without a whole response, the browser may have the cookie. After a sign-out, the note stays.
      if (!note && !(error.status >= 400)) {
        // Nobody knows who is signed in when another tab has signed in before.
        const { own } = tabs
        const isOver = tabs.isOver()
        tabs.signIn(note)
        if (isOver) tabs.own = own
      }
      throw error
    })
    tabs.signIn(note)
    return keep(response, signal)
  }

  const endSession = (refreshToken?: string | null) =>
    attempts.run(
      undefined,
      createController().signal,
      () => true,
      async (limited) => {
        const note = tabs.note()
        // Otherwise a later sign-in has replaced the cookie.
        if (!isCookie || note) await callTokenEndpoint(settings, SIGN_OUT, storage && { refreshToken }, limited)
        tabs.end(note)
        return undefined
      },
    )

  return Object.assign(attempts, {
    tabs,
    /**
     * Signs in with credentials.
     * @throws TokenClientError, or the error of `credentials`
     */
    ask: (refusals: Refusals, signal: AbortSignal, isAwaited: () => boolean) =>
      attempts.run(refusals, signal, isAwaited, (limited, given) =>
        begin(() => callTokenEndpoint(settings, '', given, limited), limited),
      ),
    /**
     * Signs in with another call.
     * @throws TokenClientError, or the error of the function
     */
    own: (own: SignInCall, signal: AbortSignal) =>
      attempts.once(signal, (limited) => begin(() => own(limited), limited)),
    /**
     * Refreshes the session of an earlier sign-in.
     * @returns undefined when there is none
     * @throws TokenClientError, or the error of the storage
     */
    refresh: async (signal: AbortSignal, isAwaited: () => boolean) =>
      settings.refresh &&
      attempts.run(undefined, signal, isAwaited, async (limited) => {
        for (let tried: unknown; ; ) {
          const text = storage ? await storage.load() : tabs.note()
          assertUsage(typeof (text ?? '') === 'string', 'load() must return text')
          // After a refusal, another process may have stored the token of a new sign-in.
          if (text === tried || (isCookie ? text : !text)) {
            // A note of a sign-out that has not reached the server, or a refresh token whose session is over.
            if (text) (storage ? (storage.remove() as Promise<unknown>) : endSession()).catch(() => {})
            return undefined
          }
          try {
            const body = storage && { refreshToken: text }
            return await keep(await callTokenEndpoint(settings, '/refresh', body, limited), limited)
          } catch (error) {
            if ((error as TokenClientError).code !== 'refused') throw error
            tried = text
          }
        }
      }),
    /** Ends the session at the server. */
    async signOut(): Promise<void> {
      tabs.signOut()
      const loading = storage?.load()
      const removing = storage?.remove() as Promise<void> | undefined
      removing?.catch(() => {})
      const refreshToken = await loading
      if (isCookie || refreshToken) await endSession(refreshToken)
      await removing
    },
  })
}
