import { callHost } from '../concurrency/host-call.js'
import type { FactorStore } from '../factors/factor-store.js'
import type { Factors } from '../factors/factors.js'
import type { Passkeys } from '../factors/passkeys.js'

/** The factors of an account, for its notices and its deletion. */
export interface OwnFactors {
  /** Returns the factors of an account for a notice, so that its owner sees one of somebody else. */
  detailsOf(accountId: string): Promise<Readonly<Record<string, unknown>>>
  /** Removes all factors of an account. */
  removeAll(accountId: string): Promise<void>
}

interface OwnFactorsSettings {
  store: FactorStore | undefined
  factors: Pick<Factors, 'isOn'> | undefined
  passkeys: Pick<Passkeys, 'list'> | undefined
  timeout: number
}

/** All kinds, because the app may have switched one off. */
const KINDS = ['api-key', 'totp', 'totp-pending', 'recovery', 'passkey', 'challenge'] as const

/** Creates the functions about all factors of an account. An app without a store of factors has none. */
export const createOwnFactors = ({ store, factors, passkeys, timeout }: OwnFactorsSettings): OwnFactors => ({
  async detailsOf(accountId) {
    const [list, secondFactor] = await Promise.all([passkeys?.list(accountId), factors?.isOn(accountId)])
    return {
      ...(list && { passkeys: list.map(({ id, name, createdAt }) => ({ id, name, createdAt })) }),
      ...(secondFactor !== undefined && { secondFactor }),
    }
  },
  async removeAll(accountId) {
    await callHost('factors', async () => store?.removeAll(accountId, KINDS), { timeout })
  },
})
