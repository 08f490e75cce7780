import type { FactorStore } from 'express-token-endpoint'
import { storeContract } from 'express-token-endpoint/testing'

/** Runs the contract with a store of factors. */
export async function expectFactorStore(store: FactorStore, otherStore?: FactorStore): Promise<void> {
  for (const { run } of storeContract({ factors: store }, { otherStore: otherStore && { factors: otherStore } }))
    await run()
}
