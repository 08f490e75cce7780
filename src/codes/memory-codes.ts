import type { CodeStore, StoredCode } from './codes.js'

/** The codes that each new code checks for expiration. More than one, so that the store does not grow for ever. */
const SWEPT = 4

/**
 * Creates a store of codes in the memory of this process, for one process, tests and demos. A restart ends all codes.
 * @throws never
 */
export function memoryCodes(): CodeStore {
  const codes = new Map<string, StoredCode>()
  const accounts = new Map<string, Map<string, StoredCode>>()
  let swept = codes.values()

  const ofAccount = (accountId: string) => accounts.get(accountId) ?? new Map<string, StoredCode>()

  function drop({ digest, accountId }: StoredCode): void {
    codes.delete(digest)
    const left = ofAccount(accountId)
    left.delete(digest)
    if (left.size === 0) accounts.delete(accountId)
  }

  /** Continues where the last call ended, so that one call costs the same however many codes there are. */
  function sweep(now: Date): void {
    for (let i = 0; i < SWEPT; i++) {
      const { value: code, done } = swept.next()
      if (done) {
        swept = codes.values()
        return
      }
      if (code.expiresAt <= now) drop(code)
    }
  }

  return {
    add(code, most, now) {
      sweep(now)
      const { digest, accountId, purpose } = code
      const own = ofAccount(accountId)
      const same = [...own.values()].filter((other) => other.purpose === purpose && other.expiresAt > now)
      if (same.length >= most) return false
      const stored = { ...code }
      codes.set(digest, stored)
      accounts.set(accountId, own.set(digest, stored))
      return true
    },
    take(digest) {
      const code = codes.get(digest)
      if (code) drop(code)
      return code
    },
    removeAll(accountId, purpose) {
      for (const code of ofAccount(accountId).values())
        if (purpose === undefined || code.purpose === purpose) drop(code)
    },
  }
}
