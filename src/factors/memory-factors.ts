import { expiringMap } from '../concurrency/expiring-map.js'
import type { FactorStore, StoredFactor } from './factor-store.js'

/**
 * Creates a store of factors in the memory of this process, for one process, tests and demos. A restart removes all factors.
 * @throws never
 */
export function memoryFactors(): FactorStore {
  const factors = expiringMap<StoredFactor>(
    ({ id }) => id,
    ({ accountId }) => accountId,
  )

  function remove(id: string, accountId: string): boolean {
    const factor = factors.get(id)
    if (factor?.accountId !== accountId) return false
    factors.remove(factor)
    return true
  }

  return {
    add(factor, most, now) {
      factors.sweep(now)
      const isValid = ({ expiresAt }: StoredFactor) => expiresAt === null || expiresAt > now
      const same = factors.get(factor.id)
      if (same && isValid(same)) return false
      const ofKind = factors.list(factor.accountId).filter((one) => one.kind === factor.kind && isValid(one))
      if (ofKind.length >= most) return false
      if (same) factors.remove(same)
      factors.set({ ...factor })
      return true
    },
    find: factors.get,
    list: factors.list,
    replace(id, from, to) {
      const factor = factors.get(id)
      if (factor?.data !== from) return false
      factors.set({ ...factor, data: to })
      return true
    },
    remove,
    removeAll(accountId, kinds) {
      for (const { id, kind } of factors.list(accountId)) if (kinds.includes(kind)) remove(id, accountId)
    },
  }
}
