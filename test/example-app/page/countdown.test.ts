import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { milestoneText, runDown, timeLeftText } from '../../../example-app/page/countdown.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('what is left', () => {
  test.each([
    [-1, '0 s'],
    [0, '0 s'],
    [1, '1 s'],
    [1000, '1 s'],
    [1001, '2 s'],
    [59_000, '59 s'],
    [59_001, '1 min 00 s'],
    [MINUTE + 5000, '1 min 05 s'],
    [HOUR - 1000, '59 min 59 s'],
    [HOUR, '1 h 00 min'],
    [25 * HOUR - 1000, '1 d 00 h'],
    [24 * HOUR - 1000, '23 h 59 min'],
    [366 * 24 * HOUR, '366 d 00 h'],
  ])('%d ms: %s', (ms, text) => {
    expect(timeLeftText(ms)).toBe(text)
  })
})

test('listeners hear of five minutes and of one, once each', () => {
  expect(milestoneText(5 * MINUTE + 1, 5 * MINUTE)).toMatch(/^Five minutes/)
  expect(milestoneText(5 * MINUTE, 5 * MINUTE - 1000)).toBeUndefined()
  expect(milestoneText(MINUTE + 1, MINUTE - 500)).toMatch(/^One minute/)
  expect(milestoneText(MINUTE - 500, 1000)).toBeUndefined()
})

test('of several that went by while the machine slept, the last', () => {
  expect(milestoneText(HOUR, 1000)).toMatch(/^One minute/)
})

describe('running down', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
  })

  const start = (ms: number) => {
    const seen: (string | number)[] = []
    const stop = runDown(Date.now() + ms, {
      tick: (left) => seen.push(left),
      milestone: (text) => seen.push(text),
      end: () => seen.push('end'),
    })
    return { seen, stop }
  }

  test('at every full second, and then no more', () => {
    const { seen } = start(2500)
    expect(seen).toEqual([2500])
    vi.advanceTimersByTime(10_000)
    expect(seen).toEqual([2500, 2000, 1000, 'end'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('tells a milestone when it comes', () => {
    const { seen } = start(MINUTE + 1000)
    vi.advanceTimersByTime(1000)
    expect(seen).toEqual([MINUTE + 1000, MINUTE, 'One minute left until the token expires.'])
  })

  test('ends at the first look after a long sleep', () => {
    const { seen } = start(HOUR)
    vi.setSystemTime(Date.now() + 2 * HOUR)
    vi.advanceTimersByTime(1000)
    expect(seen).toEqual([HOUR, 'end'])
  })
})
