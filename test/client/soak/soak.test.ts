import { expect, it } from 'vitest'
import { soak } from './soak.js'

it('50 callers see no 401 while tokens of two seconds end, and share about one sign-in per token', async () => {
  const { statuses, lifetimes, signIns } = await soak(5)
  expect(Object.keys(statuses)).toEqual(['200'])
  expect(signIns).toBeGreaterThanOrEqual(Math.floor(lifetimes))
  // The first token, and the part of a lifetime at the end.
  expect(signIns).toBeLessThanOrEqual(lifetimes * 1.05 + 1)
})
