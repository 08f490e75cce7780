import type { SessionStore } from 'express-token-endpoint'
import { storeContract } from 'express-token-endpoint/testing'
import { expect } from 'vitest'

/** Runs the contract with a store of sessions that has every method, so that every check of sessions runs. */
export async function expectSessionStore(store: SessionStore, other?: SessionStore): Promise<void> {
  const otherStore = other && { sessions: other }
  for (const { name, run } of storeContract({ sessions: store }, { otherStore }))
    await run({
      skip: (reason) => void (/no "(codes|factors)"/.test(String(reason)) || expect.fail(`${name}: ${reason}`)),
    })
}
