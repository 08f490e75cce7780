import { expiringMap } from '../concurrency/expiring-map.js'
import type { CodeStore, StoredCode } from './codes.js'

/**
 * Creates a store of codes in the memory of this process, for one process, tests and demos. A restart ends all codes.
 * @throws never
 */
export function memoryCodes(): CodeStore {
  const codes = expiringMap<StoredCode>(
    ({ digest }) => digest,
    ({ accountId }) => accountId,
  )
  return {
    add(code, most, now) {
      codes.sweep(now)
      const isSame = ({ purpose, expiresAt }: StoredCode) => purpose === code.purpose && expiresAt > now
      if (codes.list(code.accountId).filter(isSame).length >= most) return false
      codes.set({ ...code })
      return true
    },
    find: (digest) => codes.get(digest),
    take(digest) {
      const code = codes.get(digest)
      if (code) codes.remove(code)
      return code
    },
    removeAll(accountId, purpose) {
      for (const code of codes.list(accountId))
        if (purpose === undefined || code.purpose === purpose) codes.remove(code)
    },
  }
}
