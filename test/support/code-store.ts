import type { CodeStore } from 'express-token-endpoint'
import { storeContract } from 'express-token-endpoint/testing'

/** Runs the contract with a store of codes. */
export async function expectCodeStore(store: CodeStore, otherStore?: CodeStore): Promise<void> {
  for (const { run } of storeContract({ codes: store }, { otherStore: otherStore && { codes: otherStore } }))
    await run()
}
