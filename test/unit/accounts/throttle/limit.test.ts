import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLimit } from '../../../../src/accounts/throttle/limit.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(1) // lru-cache takes the very first instant for no time at all
})
afterEach(() => {
  vi.useRealTimers()
})

const limitOf = (points: number, duration = 10) => createLimit('pair', { points, duration })
const refusal = (seconds: number) =>
  expect.objectContaining({ code: 'too_many_attempts', limit: 'pair', headers: { 'Retry-After': String(seconds) } })
const OVERLOADED = expect.objectContaining({ code: 'overloaded' })

describe('failures in memory', () => {
  it.each([
    ['30,000 keys by default', undefined, 30_000],
    ['as many keys as it is told', 3, 3],
  ])('holds %s, and drops the least recently used key for another one', (_, mostKeys, most) => {
    const limit = createLimit('pair', { points: 1, duration: 3600 }, undefined, mostKeys)
    for (let i = 0; i < most; i++) limit.fail(`key ${i}`)
    expect(limit.reached('key 0')).toBeDefined()
    limit.fail('one more')
    const known = ['key 0', 'key 1', 'key 2', 'one more'].map((key) => limit.reached(key) !== undefined)
    expect(known).toEqual([true, false, true, true])
  })

  it('begin a window with the first one, and are forgotten at its end', () => {
    const { fail, reached, begin } = limitOf(3)
    fail('a')
    vi.advanceTimersByTime(4000)
    fail('a')
    expect(reached('a')).toBeUndefined()
    fail('a')
    expect(reached('a')).toEqual(refusal(6))
    expect([begin('a'), begin('b')]).toEqual([false, true])
    vi.advanceTimersByTime(5999)
    expect(reached('a')).toEqual(refusal(1))
    vi.advanceTimersByTime(2)
    expect(reached('a')).toBeUndefined()
    for (let i = 0; i < 3; i++) expect(begin('a')).toBe(true)
  })
})

describe('attempts under way', () => {
  it('leave room together with failures, and refuse nobody as failures do', () => {
    const { fail, reached, begin, end } = limitOf(3)
    fail('a')
    expect([begin('a'), begin('a'), begin('a'), begin('b')]).toEqual([true, true, false, true])
    expect(reached('a')).toBeUndefined()
    end('a')
    expect([begin('a'), begin('a')]).toEqual([true, false])
    fail('a')
    end('a')
    expect(begin('a')).toBe(false)
    end('a')
    expect([begin('a'), begin('a')]).toEqual([true, false])
  })
})

describe('a count of the store', () => {
  it.each([
    ['for as long as the store says', 0, 5000, 5000],
    ['until the later end', 3, 5000, 10_000],
    ['until the later end of the store', 3, 20_000, 20_000],
    ['whatever few failures memory knows', 1, 5000, 5000],
    ['for a moment, also when the window ends now', 0, 0, 1],
  ])('that reaches the limit refuses %s', (_, own, msBeforeNext, expected) => {
    const { fail, learn, reached } = limitOf(3)
    for (let i = 0; i < own; i++) fail('a')
    expect(learn('a', { points: 3, msBeforeNext })).toEqual(refusal(Math.ceil(expected / 1000)))
    vi.advanceTimersByTime(expected - 1)
    expect(reached('a')).toEqual(refusal(1))
    vi.advanceTimersByTime(2)
    expect(reached('a')).toBeUndefined()
  })

  it.each([
    ['nothing', undefined, 0, 0, undefined],
    ['one failure less', { points: 2, msBeforeNext: 5000 }, 0, 0, undefined],
    ['one failure less, and this attempt', { points: 2, msBeforeNext: 5000 }, 0, 1, undefined],
    ['one failure less, and another attempt', { points: 2, msBeforeNext: 5000 }, 0, 2, OVERLOADED],
    ['attempts only', { points: 0, msBeforeNext: 5000 }, 0, 4, OVERLOADED],
    ['nothing, with attempts', undefined, 0, 4, OVERLOADED],
    ['fewer failures than memory', { points: 1, msBeforeNext: 5000 }, 2, 1, undefined],
    ['fewer failures than memory, and another attempt', { points: 1, msBeforeNext: 5000 }, 2, 2, OVERLOADED],
    ['fewer failures than memory, which reach the limit', undefined, 3, 1, refusal(10)],
  ])('says whether there is room: %s', (_, counted, own, underWay, expected) => {
    const { fail, learn } = limitOf(3)
    for (let i = 0; i < own; i++) fail('a')
    expect(learn('a', counted, underWay)).toEqual(expected)
  })
})
