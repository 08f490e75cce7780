import { createController } from '../abort.js'
import { assertUsage, type ClientSettings } from '../client-options.js'
import type { Grant } from '../grant.js'
import type { TokenClientError } from '../token-client-error.js'
import { createAttempts, type Refusals } from './attempts.js'
import { storageOf } from './refresh-storage.js'
import { callTokenEndpoint, SIGN_OUT, type TokenRoute } from './token-call.js'

export type ClientSignIn = ReturnType<typeof createSignIn>

/** Creates the sign-in of one client: with credentials, with the refresh token of an earlier one, and its end. */
export function createSignIn(settings: ClientSettings) {
  const storage = storageOf(settings)
  const isCookie = settings.refresh === 'cookie'
  const attempts = createAttempts(settings)

  /** Calls a route, and keeps the refresh token. */
  async function send(route: TokenRoute, body: object | false, signal: AbortSignal): Promise<Grant | undefined> {
    // A sign-out of another tab while the request is under way ends this session too.
    const note = isCookie && (await storage?.load())
    const [grant, refreshToken] = await callTokenEndpoint(settings, route, body, signal)
    // A sign-out may have deleted the refresh token.
    signal.throwIfAborted()
    try {
      await storage?.save((isCookie ? note : refreshToken) as string)
      attempts.error = undefined
    } catch (error) {
      attempts.error = error as Error
    }
    return grant
  }

  const endSession = (refreshToken?: string | null) =>
    attempts.run(
      undefined,
      createController().signal,
      () => true,
      async (limited) => {
        const note = isCookie && (await storage?.load())
        // Otherwise a later sign-in has replaced the cookie.
        if (note !== '') await callTokenEndpoint(settings, SIGN_OUT, !isCookie && { refreshToken }, limited)
        if (note) await storage?.save(note)
        return undefined
      },
    )

  return Object.assign(attempts, {
    /**
     * Signs in with credentials.
     * @throws TokenClientError, or the error of `credentials`
     */
    withCredentials: (refusals: Refusals, signal: AbortSignal, isAwaited: () => boolean) =>
      attempts.run(refusals, signal, isAwaited, (limited, given) => send('', given, limited)),
    /**
     * Refreshes the session of an earlier sign-in.
     * @param unneeded aborts when it is not needed any more. A request that was sent continues, because its response has a refresh token
     * @returns undefined when there is none
     * @throws TokenClientError, or the error of the storage
     */
    refresh: async (unneeded: AbortSignal, signal: AbortSignal, isAwaited: () => boolean) =>
      storage &&
      attempts.run(undefined, signal, isAwaited, async (limited) => {
        unneeded.throwIfAborted()
        for (let tried: unknown; ; ) {
          const text = await storage.load()
          assertUsage(typeof (text ?? '') === 'string', 'load() must return text')
          // After a refusal, another process may have stored the token of a new sign-in.
          if (text === tried || (isCookie ? text : !text)) {
            // A note of a sign-out that has not reached the server, or a refresh token whose session is over.
            if (text) (isCookie ? endSession() : (storage.remove() as Promise<unknown>)).catch(() => {})
            return undefined
          }
          try {
            return await send('/refresh', !isCookie && { refreshToken: text }, limited)
          } catch (error) {
            if ((error as TokenClientError).code !== 'refused') throw error
            tried = text
          }
        }
      }),
    /** Ends the session at the server. */
    async signOut(): Promise<void> {
      if (!storage) return
      const loading = storage.load()
      const removing = storage.remove() as Promise<void> | undefined
      removing?.catch(() => {})
      const refreshToken = await loading
      if (isCookie || refreshToken) await endSession(refreshToken)
      await removing
    },
  })
}
