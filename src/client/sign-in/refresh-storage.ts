import type { ClientSettings, RefreshTokenStorage } from '../client-options.js'
import { inTurn } from './call-queue.js'

/** Returns the storage of the refresh token, whose functions run one after the other. None in cookie mode. */
export function storageOf({ refresh }: ClientSettings): RefreshTokenStorage | undefined {
  if (!refresh || refresh === 'cookie') return undefined
  const queue = inTurn()
  let unsaved = ''
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
