import type { BrowserStorage } from '../browser-storage.js'
import { LONGEST_TIMER } from '../countdown.js'
import { expiryOf, type Grant, isLive } from '../grant.js'
import { readJson } from '../read.js'
import { type News, NO_TABS, shareable, type TabSharing } from './tab-link.js'

interface StorageWindow {
  readonly sessionStorage: BrowserStorage
  readonly localStorage: BrowserStorage
  readonly addEventListener?: (type: string, listener: (event: Change) => void, options: AbortController) => void
}

/** The part of a `StorageEvent` that this file uses. */
interface Change {
  readonly key: string | null
  readonly newValue: string | null
}

/**
 * Keeps the token in the `sessionStorage` of its tab, so that a reload does not lose it. The token is removed when the client deletes
 * it, when an API refuses it, and when it expires. Without storage, a reload loses the token.
 *
 * Every script of the origin can read the token. A duplicated tab gets it too. With a link to other tabs, a sign-out ends the kept tokens of
 * all tabs: `localStorage` holds its number, and never a token.
 * @param others the link to the other tabs: `shareBetweenTabs()`. Default: each tab signs in
 * @returns the value of the option `tabs`
 * @throws nothing
 */
export function keepInTab(others: TabSharing = () => NO_TABS): TabSharing {
  return (owner) => {
    const name = `express-token-endpoint ${owner.tokenUrl}`
    const page = globalThis as unknown as StorageWindow
    const closing = new AbortController()
    // Node has storage too, but there all users of a server would share one account.
    let isUsable = 'document' in globalThis
    let timer: ReturnType<typeof setTimeout>

    function use<T>(work: () => T): T | undefined {
      try {
        return isUsable ? work() : undefined
      } catch {
        // A token that could not be removed must not come back.
        isUsable = false
        return undefined
      }
    }

    const stored = () => Number(page.localStorage.getItem(name)) || 0

    /** Learns of the sign-outs that other tabs have stored. */
    function learn(theirs: number): void {
      if (link.generation !== undefined) link.generation = Math.max(link.generation, theirs)
    }

    /** Tells tabs that are on another page, frozen or loading. */
    function store(): void {
      const { generation = 0 } = link
      if (generation > stored()) page.localStorage.setItem(name, String(generation))
    }

    function keep(grant?: Grant): void {
      clearTimeout(timer)
      use(() => {
        // A full storage would keep the token before.
        page.sessionStorage.removeItem(name)
        // A random number, so that no token from before the storage was cleared has it.
        if (grant && link.generation === 0) link.generation = Math.random()
        store()
        if (!grant) return
        page.sessionStorage.setItem(name, JSON.stringify({ ...grant, generation: link.generation }))
        timer = setTimeout(update, Math.min(expiryOf(grant) - Date.now(), LONGEST_TIMER))
      })
    }

    const update = () => keep(shareable(owner))

    function hear(news: News): void {
      // Otherwise the next session would begin with the token of the last.
      keep()
      owner.hear(news)
      update()
    }

    const link = others({ ...owner, hear })
    function onStorage({ key, newValue }: Change): void {
      const { generation } = link
      // Only messages tell a tab without a number whether it was a sign-out.
      if (!generation) return
      // The storage may still show what this tab has stored meanwhile.
      learn(key === name ? Number(newValue) || 0 : 0)
      if (link.generation !== generation) hear('sign-out')
      // The app may have cleared the storage.
      use(store)
    }
    page.addEventListener?.('storage', onStorage, closing)
    return {
      ...link,
      kept() {
        const grant = use(() => {
          learn(stored())
          const read: unknown = readJson(page.sessionStorage.getItem(name))
          if (!isLive(read) || ![read.lifetime, read.receivedAt].every(Number.isFinite)) return undefined
          const { generation } = read as { generation?: unknown }
          return generation === link.generation && read.receivedAt <= Date.now() ? read : undefined
        })
        keep(grant)
        // Learns of earlier sign-outs, so that the other tabs take the token.
        if (grant) void link.ask()
        return grant
      },
      ask() {
        update()
        return link.ask()
      },
      tell(news) {
        if (news === 'sign-out') use(() => learn(stored()))
        else if (news !== 'refused') keep(news)
        link.tell(news)
        if (news === 'sign-out') keep()
      },
      close() {
        closing.abort()
        keep()
        link.close()
      },
    }
  }
}
