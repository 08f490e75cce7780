import { LONGEST_TIMER } from '../countdown.js'
import { expiryOf, type Grant, isLive } from '../grant.js'
import { readJson } from '../read.js'
import { NO_TABS, type TabSharing } from './tab-link.js'

/** The part of a browser's storage that this file uses. */
interface Store {
  getItem(name: string): string | null
  setItem(name: string, text: string): void
  removeItem(name: string): void
}

/**
 * Keeps the token in the `sessionStorage` of its tab, so that a reload does not lose it. The token is removed when the client deletes
 * it, when an API refuses it, and when it expires. Without storage, a reload loses the token.
 *
 * Every script of the origin can read the token. A duplicated tab gets it too.
 * @param others the link to the other tabs: `shareBetweenTabs()`. Default: each tab signs in
 * @returns the value of the option `tabs`
 * @throws nothing
 */
export function keepInTab(others: TabSharing = () => NO_TABS): TabSharing {
  return (owner) => {
    const name = `express-token-endpoint ${owner.tokenUrl}`
    const page = globalThis as unknown as { sessionStorage: Store; localStorage: Store }
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

    function keep(grant?: Grant): void {
      clearTimeout(timer)
      use(() => {
        // A full storage would keep the token before.
        page.sessionStorage.removeItem(name)
        if (!grant) return
        page.sessionStorage.setItem(name, JSON.stringify(grant))
        timer = setTimeout(update, Math.min(expiryOf(grant) - Date.now(), LONGEST_TIMER))
      })
    }

    const update = () => keep(owner.held())

    const link = others({
      ...owner,
      hear(news) {
        owner.hear(news)
        update()
      },
    })
    return {
      ...link,
      kept() {
        const grant = use(() => {
          const { sessionStorage, localStorage } = page
          const read: unknown = readJson(sessionStorage.getItem(name))
          const signedOutAt = link === NO_TABS ? 0 : Number(localStorage.getItem(name))
          if (!isLive(read) || ![read.lifetime, read.receivedAt].every(Number.isFinite)) return undefined
          return signedOutAt <= read.receivedAt && read.receivedAt <= Date.now() ? read : undefined
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
        if (news === 'sign-out') {
          keep()
          // For tabs that are on another page or frozen.
          if (link !== NO_TABS) use(() => page.localStorage.setItem(name, String(Date.now())))
        } else if (news !== 'refused') keep(news)
        link.tell(news)
      },
      close() {
        keep()
        link.close()
      },
    }
  }
}
