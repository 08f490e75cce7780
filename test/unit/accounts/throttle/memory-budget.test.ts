import { describe, expect, it } from 'vitest'
import { memoryBudget } from '../../../../src/accounts/throttle/memory-budget.js'

const ONE = { points: 1, duration: 3600 }

describe('memoryBudget', () => {
  it.each([
    ['30,000 keys by default', undefined, 30_000],
    ['as many keys as it is told', 3, 3],
  ])('holds %s, and drops the least recently used key for another one', (_, mostKeys, most) => {
    const budget = memoryBudget(ONE, mostKeys)
    for (let i = 0; i < most; i++) budget.spend(`key ${i}`)
    expect(budget.exhausted('key 0')).toEqual({ msBeforeNext: expect.any(Number) })
    budget.spend('one more')
    expect(budget.exhausted('key 0')).toBeDefined()
    expect(budget.exhausted('key 1')).toBeUndefined()
    expect(budget.exhausted('key 2')).toBeDefined()
    expect(budget.exhausted('one more')).toBeDefined()
  })
})
