import { type News, NO_TABS, type TabSharing } from './tab-link.js'

/** A message between tabs. A question and its responses have the same number. */
type Message =
  | { readonly question: number }
  | { readonly response: number; readonly generation: number }
  | { readonly news: News; readonly generation: number }

/** The part of `navigator.locks` (Web Locks API) that this file uses. */
interface Locks {
  request<T>(name: string, options: { mode?: 'shared'; signal?: AbortSignal }, work: () => Promise<T>): Promise<T>
  query(): Promise<{ held: readonly { name: string }[] }>
}

/** The time for the other tabs' responses. A tab that responds later costs one more sign-in. */
const PATIENCE_MS = 100

/**
 * Shares one sign-in between all tabs of an origin. The tabs take turns to sign in (`navigator.locks`), and pass the token on in
 * messages (`BroadcastChannel`). Nothing is stored. A sign-out in one tab signs out all tabs. Where the browser lacks one of the two,
 * or refuses them to the page, each tab signs in.
 *
 * All tabs share one account. Every script of the origin can receive the messages.
 * @returns the value of the option `tabs`
 * @throws nothing
 */
export function shareBetweenTabs(): TabSharing {
  return ({ tokenUrl, held, hear }) => {
    const { locks } = (globalThis as { navigator?: { locks?: Locks } }).navigator ?? {}
    // Node has locks too, but there all users of a server would share one account.
    if (!locks || !('document' in globalThis)) return NO_TABS
    const name = `express-token-endpoint ${tokenUrl}`
    let channel: InstanceType<typeof BroadcastChannel>
    try {
      channel = new BroadcastChannel(name)
    } catch {
      return NO_TABS
    }
    const post = (message: Message) => channel.postMessage(message)
    /** The number of the last sign-out that this tab knows. A token and a refusal from before it are not taken. */
    let generation = 0
    let question = 0
    let received = () => {}
    let leave = () => {}

    /**
     * Each tab holds this lock, so that a tab knows how many others will respond. It need not wait for a timer, which takes up to a
     * minute in a hidden tab. False where the page may not use locks, for example in a sandboxed frame.
     */
    const isPresent = new Promise<boolean>((resolve) => {
      const closed = new Promise<void>((close) => {
        leave = close
      })
      const stay = () => {
        resolve(true)
        return closed
      }
      locks.request(`${name} present`, { mode: 'shared' }, stay).catch(() => resolve(false))
    })

    channel.onmessage = ({ data }: { data: Message }) => {
      const message = Object(data)
      if (message.question) {
        const grant = held()
        if (grant) post({ news: grant, generation })
        post({ response: message.question, generation })
      } else if (message.response) {
        if (message.response !== question) return
        // A tab that opens after a sign-out would otherwise tell a token that looks older.
        generation = Math.max(generation, message.generation)
        received()
      } else if (message.news === 'sign-out' || message.generation >= generation) {
        generation = Math.max(generation, message.generation)
        hear(message.news)
      }
    }

    /** Asks the other tabs for a token. Rejects when this tab has closed, and when the browser refuses to list the locks. */
    const askOthers = async (): Promise<void> => {
      if (!(await isPresent)) return
      const present = (await locks.query()).held.filter((lock) => lock.name === `${name} present`)
      let missing = present.length - 1
      if (missing < 1) return
      await new Promise<void>((resolve) => {
        question = Math.random()
        received = () => {
          if (!--missing) resolve()
        }
        setTimeout(resolve, PATIENCE_MS)
        post({ question })
      })
    }

    /** Asks the other tabs. This tab signs in when they do not respond. */
    const ask = () => askOthers().catch(() => {})

    return {
      ask,
      async alone(call, signal) {
        if (!(await isPresent)) return call()
        return locks.request(name, { signal }, async () => {
          // The tab that signed in before may have a token by now. The signal aborts when its token arrives.
          await ask()
          signal.throwIfAborted()
          return call()
        })
      },
      tell(news: News) {
        // Larger than each number that another tab knows, also when this tab knows none.
        if (news === 'sign-out') generation = Math.max(Date.now(), generation + 1)
        post({ news, generation })
      },
      close() {
        channel.close()
        leave()
      },
    }
  }
}
