import type { Grant } from '../grant.js'
import { type News, NO_TABS, type TabSharing } from './tab-link.js'

/** A message between tabs: a token, a question for one, or the end of a session. */
type Message = Grant | 'question' | News

/** The part of `navigator.locks` (Web Locks API) that this file uses. */
interface Locks {
  request<T>(name: string, options: { signal: AbortSignal }, work: () => Promise<T>): Promise<T>
}

/** The time for the other tabs' responses. A tab that responds later costs one more sign-in. */
const PATIENCE_MS = 100

/**
 * Shares one sign-in between all tabs of an origin. The tabs take turns to sign in (`navigator.locks`), and pass the token on in
 * messages (`BroadcastChannel`). Nothing is stored. A sign-out in one tab signs out all tabs. Where the browser lacks one of the two,
 * each tab signs in.
 *
 * All tabs share one account. Every script of the origin can receive the messages.
 * @returns the value of the option `tabs`
 * @throws nothing
 */
export function shareBetweenTabs(): TabSharing {
  return ({ tokenUrl, held, adopt, signedOut, refused }) => {
    const { locks } = (globalThis as { navigator?: { locks?: Locks } }).navigator ?? {}
    // Node has locks too, but there all users of a server would share one account.
    if (!locks || !('document' in globalThis)) return NO_TABS
    const name = `express-token-endpoint ${tokenUrl}`
    const channel = new BroadcastChannel(name)
    const post = (message: Message) => channel.postMessage(message)

    channel.onmessage = ({ data }: { data: Message }) => {
      if (data === 'sign-out') signedOut()
      else if (data === 'refused') refused()
      else if (data !== 'question') adopt(data)
      else {
        const grant = held()
        if (grant) post(grant)
      }
    }

    async function ask(): Promise<void> {
      post('question')
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))
    }

    return {
      ask,
      alone: (call, signal) =>
        locks.request(name, { signal }, async () => {
          // The tab that signed in before may have a token by now. The signal aborts when its token arrives.
          await ask()
          signal.throwIfAborted()
          return call()
        }),
      tell: post,
      close: () => channel.close(),
    }
  }
}
