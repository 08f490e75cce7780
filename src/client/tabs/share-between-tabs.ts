import type { Grant } from '../grant.js'
import { bare } from '../read.js'
import { type Locks, type News, NO_TABS, shareable, type TabSharing } from './tab-link.js'

/** A message between tabs. A question and its responses have the same number. A response may have a token. */
type TabMessage = { readonly question: number } | TabResponse | Told

interface Told {
  readonly news: News
  readonly generation: number
  /** The sender's number before its sign-out. */
  readonly before: number
}

interface TabResponse {
  readonly response: number
  readonly news: Grant | undefined
  readonly generation: number
}

/*
 * A generation is the time from one sign-out to the next. Its number only grows, and no clock changes it: each sign-out adds a random
 * number from 1 to 2, so that two sign-outs at once have two numbers. A tab that knows no number has 0. A message has its sender's number.
 *
 * - A token and a refusal are taken when their number is the tab's number. A tab with 0 takes the number too.
 * - A response to the tab's own question was sent after all sign-outs of this tab, so the tab takes a larger number from it. A token that
 *   the tab holds is then from before a sign-out that it missed, for example because it was just loading. Its session ends.
 * - Each sign-out is obeyed, except one whose number is known. When its sender did not know this tab's number, because two tabs signed out
 *   at once, or because the sender has just opened, all tabs continue with one number that is larger than both. A token that is under way
 *   has a smaller one.
 * - `keepInTab` keeps the number with the token and in `localStorage`. A page takes its kept token only when both are the same.
 *   `localStorage` may show a sign-out later than a message does, or earlier. When the number grows there, this is a sign-out too.
 */

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
  return (owner) => {
    const { tokenUrl, held, hear } = owner
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
    const post = (message: TabMessage) => channel.postMessage(message)
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

    channel.onmessage = ({ data }: { data: TabMessage }) => {
      const { question: asked, response, news, generation: theirs, before } = bare(Object(data))
      const { generation } = link
      if (asked) return post({ response: asked, news: shareable(owner), generation })
      if (response && response !== question) return
      const isLater = theirs > generation
      if (news === 'sign-out') {
        if (theirs === generation) return
        const both = Math.max(theirs, generation) + (Math.min(theirs, generation) % 1)
        link.generation = (before >= generation ? theirs : both) || generation
        return hear(news)
      }
      if (isLater && (response || !generation)) {
        link.generation = theirs
        if (generation && held()) hear('sign-out')
      }
      if (news && theirs === link.generation) hear(news)
      if (response) received()
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

    const link = {
      generation: 0,
      ask,
      async alone(call: () => Promise<Grant | undefined>, signal: AbortSignal) {
        if (!(await isPresent)) return call()
        return locks.request(name, { signal }, async () => {
          // The tab that signed in before may have a token by now. The signal aborts when its token arrives.
          await ask()
          signal.throwIfAborted()
          return call()
        })
      },
      tell(news: News) {
        const before = link.generation
        if (news === 'sign-out') {
          link.generation += 1 + Math.random()
          // Otherwise a response from before the sign-out could have a token.
          question = 0
        }
        post({ news, generation: link.generation, before })
      },
      close() {
        channel.close()
        leave()
      },
    }
    return link
  }
}
