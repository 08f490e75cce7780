import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFailures } from '../../../../src/accounts/throttle/failures.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(1) // lru-cache takes the very first instant for no time at all
})
afterEach(() => {
  vi.useRealTimers()
})

describe('failures in memory', () => {
  it.each([
    ['30,000 keys by default', undefined, 30_000],
    ['as many keys as it is told', 3, 3],
  ])('holds %s, and drops the least recently used key for another one', (_, mostKeys, most) => {
    const failures = createFailures(1, 3600, mostKeys)
    for (let i = 0; i < most; i++) failures.add(`key ${i}`)
    expect(failures.reached('key 0')).toEqual({ msBeforeNext: expect.any(Number) })
    failures.add('one more')
    expect(['key 0', 'key 1', 'key 2', 'one more'].map(failures.count)).toEqual([1, 0, 1, 1])
  })

  it('begins a window at the first failure, and forgets all of it at its end', () => {
    const failures = createFailures(3, 10)
    failures.add('a')
    vi.advanceTimersByTime(4000)
    failures.add('a')
    expect([failures.count('a'), failures.reached('a')]).toEqual([2, undefined])
    failures.add('a')
    expect(failures.reached('a')).toEqual({ msBeforeNext: 6000 })
    vi.advanceTimersByTime(6001)
    expect([failures.count('a'), failures.reached('a')]).toEqual([0, undefined])
  })

  it.each([
    ['for as long as the store says', 0, 5000, 5000],
    ['until the later end', 3, 5000, 10_000],
    ['until the later end of the store', 3, 20_000, 20_000],
    ['whatever few failures memory knows', 1, 5000, 5000],
    ['for a moment, also when the window ends now', 0, 0, 1],
  ])('refuses %s', (_, own, msBeforeNext, expected) => {
    const failures = createFailures(3, 10)
    for (let i = 0; i < own; i++) failures.add('a')
    failures.exhaust('a', { msBeforeNext })
    expect(failures.reached('a')).toEqual({ msBeforeNext: expected })
    vi.advanceTimersByTime(expected + 1)
    expect(failures.reached('a')).toBeUndefined()
  })
})
