import { createApiFetch } from './api-fetch.js'
import { readClientOptions, type TokenClientOptions } from './client-options.js'
import type { HeadersRequest, TokenClient, TokenClientState, TokenRequest } from './client-types.js'
import { openSession } from './session.js'
import { createSignIn } from './sign-in/sign-in.js'
import { TokenClientError } from './token-client-error.js'

type Listener = (state: TokenClientState) => void

type Listen = (type: string, listener: (event: { persisted?: boolean }) => void, options?: AbortController) => void

/** The part of a browser's global object that this file uses. */
interface Page {
  readonly addEventListener?: Listen
}

/**
 * Creates a client that signs in when a call needs a token, and again before the token expires. All calls share one sign-in. The
 * client keeps the token in memory only, and no object that it returns shows the token.
 * @throws TypeError for an invalid option
 */
export function createTokenClient(options: TokenClientOptions): TokenClient {
  const settings = readClientOptions(options)
  const { tabs, tokenUrl } = settings
  const closing = new AbortController()
  const listeners = new Set<Listener>()
  let state: TokenClientState

  const link = tabs({
    tokenUrl,
    held: () => (session.held?.isOld() ? undefined : session.held?.grant),
    adopt: (grant) => session.adopt(grant),
    signedOut: () => end('signed_out'),
    refused: () => session.refuseCredentials(),
  })
  const signIn = createSignIn(settings, link)
  const open = () => openSession(settings, signIn, link, changed)
  let session = open()
  const { fetch, checkUrl } = createApiFetch(settings, () => session)
  changed()

  function changed(): void {
    const { held, error } = session
    state = Object.freeze({ expiresAt: held && Math.round(Date.now() + held.left()), error })
    listeners.forEach(tell)
  }

  function tell(listener: Listener): void {
    const told = state
    // Not in this call, so that the fault of a listener is uncaught and disturbs nobody.
    queueMicrotask(() => listeners.has(listener) && listener(told))
  }

  function end(code: 'signed_out' | 'closed'): void {
    const isNews = session.end(new TokenClientError(code))
    if (code === 'signed_out') session = open()
    // Otherwise a listener that signs out would call itself for ever.
    if (isNews) changed()
  }

  const listen: Listen = (type, listener) => (globalThis as Page).addEventListener?.(type, listener, closing)
  listen('online', signIn.goOnline)
  // A page from the back/forward cache has no token, as after a reload: another person may have signed in since.
  listen('pageshow', ({ persisted }) => persisted && end('signed_out'))

  const token = async (request: TokenRequest = {}) => (await session.get(request)).grant.token
  return {
    fetch,
    token,
    async headers({ url, ...request }: HeadersRequest = {}) {
      if (url !== undefined) checkUrl(url)
      return { Authorization: `Bearer ${await token(request)}` }
    },
    signOut() {
      if (session.over.aborted) return
      link.tell('sign-out')
      end('signed_out')
    },
    get state() {
      return state
    },
    onChange(listener) {
      // A function may listen twice.
      const entry: Listener = (told) => listener(told)
      listeners.add(entry)
      tell(entry)
      return () => listeners.delete(entry)
    },
    close() {
      listeners.clear()
      closing.abort()
      end('closed')
      link.close()
    },
  }
}
