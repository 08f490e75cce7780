import type { SessionStore } from 'express-token-endpoint'
import { sessionStoreContract } from 'express-token-endpoint/testing'
import { expect } from 'vitest'

/** Runs the contract with a store of sessions that has every method, so that every check runs. */
export async function expectSessionStore(store: SessionStore): Promise<void> {
  for (const { name, run } of sessionStoreContract({ store }))
    await run({ skip: (reason) => expect.fail(`${name}: ${reason}`) })
}
