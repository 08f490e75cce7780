import { expect, it, onTestFinished, vi } from 'vitest'
import { createPacer } from '../../src/http/pacer.js'

/** A pacer of one in 10 ms after three, none later than 40 ms, and its clock. */
function paced(at = 1000) {
  const clock = { now: at }
  const wait = createPacer(10, 3, 40, () => clock.now)
  return { clock, waits: (count: number) => Array.from({ length: count }, wait) }
}

it('lets a burst out at once, and the others one after the other, none later than the longest wait', () => {
  expect(paced().waits(10)).toEqual([0, 0, 0, 10, 20, 30, 40, 40, 40, 40])
})

it('keeps what is slower than its pace from waiting, however long it goes on', () => {
  const { clock, waits } = paced()
  for (let i = 0; i < 20; i++) {
    expect(waits(1)).toEqual([0])
    clock.now += 10
  }
})

it('saves up no more than one burst in a quiet time', () => {
  const { clock, waits } = paced()
  waits(5)
  clock.now += 1_000_000
  expect(waits(4)).toEqual([0, 0, 0, 10])
})

it('goes on where it was when a crowd comes back', () => {
  const { clock, waits } = paced()
  expect(waits(5)).toEqual([0, 0, 0, 10, 20])
  clock.now += 15
  expect(waits(2)).toEqual([15, 25])
})

it('counts by a clock that nobody sets', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const wait = createPacer(10, 1, 1000)
  expect([wait(), wait()]).toEqual([0, 10])
  vi.advanceTimersByTime(4)
  expect(wait()).toBe(16)
})
