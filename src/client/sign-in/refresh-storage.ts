import type { BrowserStorage } from '../browser-storage.js'
import type { ClientSettings, RefreshTokenStorage } from '../client-options.js'
import { inTurn } from './call-queue.js'

/**
 * Returns the storage of the refresh token, whose functions run one after the other.
 *
 * In cookie mode, no script can read or delete the refresh token. Here is a note instead, from a sign-out until the server has ended the
 * session, so that no reload brings the user back. Its text is random, so that a sign-in removes only a note from before.
 */
export function storageOf({ refresh, name }: ClientSettings): RefreshTokenStorage | undefined {
  let kept = ''
  /** Returns empty text when there is no note, and the note of this client without storage. */
  const use = (work: (store: BrowserStorage) => unknown) => {
    try {
      return (work((globalThis as unknown as { localStorage: BrowserStorage }).localStorage) as string | null) ?? ''
    } catch {
      return kept
    }
  }
  const load = () => kept || use((store) => store.getItem(name))

  if (refresh === 'cookie')
    return {
      load,
      save(note) {
        if (load() !== note) return
        kept = ''
        use((store) => store.removeItem(name))
      },
      remove() {
        kept = String(Math.random())
        // Without storage, only this client has it.
        kept = use((store) => store.setItem(name, kept))
      },
    }
  if (!refresh) return undefined
  const queue = inTurn()
  return {
    load: () => queue(() => kept || refresh.load()),
    save: (text) =>
      queue(async () => {
        // Until it is saved, this client works with it.
        kept = text
        await refresh.save(text)
        kept = ''
      }),
    remove: () =>
      queue(() => {
        kept = ''
        return refresh.remove()
      }),
  }
}
