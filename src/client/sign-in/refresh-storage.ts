import type { ClientSettings, RefreshTokenStorage } from '../client-options.js'
import { inTurn } from './call-queue.js'

/** The part of `localStorage` that the client uses. */
interface BrowserStorage {
  getItem(name: string): string | null
  setItem(name: string, text: string): void
  removeItem(name: string): void
}

/**
 * Returns the storage of the refresh token, whose functions run one after the other.
 *
 * In cookie mode, no script can read or delete the refresh token. Here is a note instead, from a sign-out until the server has ended the
 * session, so that no reload brings the user back. Its text is random, so that a sign-in removes only a note from before.
 */
export function storageOf({ refresh, name }: ClientSettings): RefreshTokenStorage | undefined {
  let unsaved = ''
  /** Returns empty text when there is no note, and the note of this client without storage. */
  const use = (work: (store: BrowserStorage) => unknown) => {
    try {
      return (work((globalThis as unknown as { localStorage: BrowserStorage }).localStorage) as string | null) ?? ''
    } catch {
      return unsaved
    }
  }
  const load = () => unsaved || use((store) => store.getItem(name))

  if (refresh === 'cookie')
    return {
      load,
      save(note) {
        if (load() !== note) return
        unsaved = ''
        use((store) => store.removeItem(name))
      },
      remove() {
        unsaved = String(Math.random())
        // Without storage, only this client has it.
        unsaved = use((store) => store.setItem(name, unsaved))
      },
    }
  if (!refresh) return undefined
  const queue = inTurn()
  return {
    load: () => queue(() => unsaved || refresh.load()),
    save: (text) =>
      queue(async () => {
        // Until it is saved, this client works with it.
        unsaved = text
        await refresh.save(text)
        unsaved = ''
      }),
    remove: () =>
      queue(() => {
        unsaved = ''
        return refresh.remove()
      }),
  }
}
