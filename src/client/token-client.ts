import { createApiFetch } from './api-fetch.js'
import { assertUsage, readClientOptions, type TokenClientOptions } from './client-options.js'
import type { HeadersRequest, TokenClient, TokenClientState, TokenRequest } from './client-types.js'
import { type ClientSession, openSession } from './session.js'
import { createSignIn } from './sign-in/sign-in.js'
import { callTokenEndpoint, NO_TOKEN, readTokenResponse } from './sign-in/token-call.js'
import { TokenClientError } from './token-client-error.js'

type Listener = (state: TokenClientState) => void

/** The members of events that this file uses. */
interface PageEvent {
  readonly persisted?: boolean
  readonly key?: string | null
  readonly newValue?: string | null
}

type Listen = (type: string, listener: (event: PageEvent) => void, options?: AbortController) => void

/**
 * Creates a client that signs in when a call needs a token, and again before the token expires. All calls share one sign-in. The
 * client keeps the token in memory only. No object that it returns shows the token.
 * @throws TypeError for an invalid option
 */
export function createTokenClient(options: TokenClientOptions): TokenClient {
  const settings = readClientOptions(options)
  const closing = new AbortController()
  const listeners = new Set<Listener>()
  let state: TokenClientState
  /** The sign-in of another tab for which the session began. */
  let openedFor: string | undefined

  const signIn = createSignIn(settings)
  let session = open()
  const [fetch, checkUrl, call, stepUp] = createApiFetch(settings, () => session)
  changed()

  function open(): ClientSession {
    return openSession(settings, signIn, changed)
  }

  function changed(): void {
    const { held, error } = session
    state = Object.freeze({ expiresAt: held?.expiresAt, error })
    listeners.forEach(notify)
  }

  function notify(listener: Listener): void {
    const current = state
    // Not in this call, so that the fault of a listener is uncaught and disturbs no other one.
    queueMicrotask(() => listeners.has(listener) && listener(current))
  }

  function end(code: 'signed_out' | 'closed'): void {
    // Otherwise a listener that signs out would call itself for ever.
    if (session.end(new TokenClientError(code))) changed()
  }

  /** Ends the session, and opens the next. */
  function reopen(): void {
    end('signed_out')
    session = open()
  }

  const listen: Listen = (type, listener) =>
    (globalThis as { addEventListener?: Listen }).addEventListener?.(type, listener, closing)
  listen('online', signIn.online)
  // A page from the back/forward cache has the token that a reload would have: another person may have signed in since.
  listen('pageshow', ({ persisted }) => persisted && reopen())
  // Another tab has signed in or out.
  if (settings.refresh === 'cookie')
    listen('storage', ({ key, newValue }) => newValue && key === settings.name && reopen())

  const token = async (request: TokenRequest = {}) => (await session.get(request)).token

  /** Calls a route of the account without a token. */
  const send = (path: string, body: object) =>
    signIn.once(
      session.over,
      async (signal) => (await callTokenEndpoint(settings, NO_TOKEN, body, signal, settings.account + path))[0],
    ) as Promise<undefined>

  /** Calls a route of the account with the token. */
  const act = (path: string, body?: object, method?: string) =>
    call(NO_TOKEN, settings.account + path, body, method) as Promise<undefined>

  const api: TokenClient = {
    // Its third parameter is not for apps.
    fetch: (input, init) => fetch(input, init),
    token,
    async headers({ url, ...request }: HeadersRequest = {}) {
      if (url !== undefined) checkUrl(url)
      return { Authorization: `Bearer ${await token(request)}` }
    },
    async restore() {
      assertUsage(settings.refresh, 'restore() needs "refresh"')
      const { tabs } = signIn
      const text = tabs.load()
      // Once, because two calls would end each other's session again and again.
      if (tabs.isOver() && text !== openedFor) {
        openedFor = text
        reopen()
      }
      const begun = session
      const isSignedIn = await begun.restore().catch((error) => {
        if (session === begun) throw error
      })
      // Another tab has signed in or out meanwhile.
      if (session !== begun || text !== tabs.load()) return api.restore()
      tabs.own = text
      return !!isSignedIn
    },
    signIn: (own) =>
      session.signIn(async (signal) => {
        const response = await own(signal)
        return readTokenResponse(settings, undefined, () => response)
      }),
    signUp: (email) => send('', { email }),
    confirm: (given) =>
      session.signIn((signal) => callTokenEndpoint(settings, undefined, given, signal, `${settings.account}/confirm`)),
    forgotten: (email) => send('/password/forgotten', { email }),
    reset: (given) => send('/password/reset', given),
    changePassword: (given) => act('/password', given),
    changeAddress: (email) => act('/address', { email }),
    confirmAddress: (code) => act('/address/confirm', { code }),
    async remove() {
      const begun = session
      await act('', undefined, 'DELETE')
      // Another person may have signed in meanwhile.
      if (session === begun) api.signOut()
    },
    stepUp: (given) => stepUp(session, given),
    signOut() {
      if (session.over.aborted) return Promise.resolve()
      reopen()
      const ended = signIn.signOut()
      // An app need not wait for it.
      ended.catch(() => {})
      return ended
    },
    get state() {
      return state
    },
    onChange(listener) {
      // A function may listen twice.
      const entry: Listener = listener.bind(null)
      listeners.add(entry)
      notify(entry)
      return () => listeners.delete(entry)
    },
    close() {
      listeners.clear()
      closing.abort()
      end('closed')
    },
  }
  return api
}
