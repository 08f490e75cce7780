import { expect, it } from 'vitest'
import { CHANGES, changeIssuer, NEW, OLD } from '../../support/issuers/issuer-change.js'

it.each(CHANGES)('an app changes %s, and none of 100,000 requests is refused', async (_what, keys) => {
  const outcomes = await changeIssuer(100_000, keys)
  expect(outcomes).toEqual({ [OLD]: expect.any(Number), [NEW]: expect.any(Number) })
  expect((outcomes[OLD] ?? 0) + (outcomes[NEW] ?? 0)).toBeGreaterThanOrEqual(100_000)
})
