import { expect, it, onTestFinished, vi } from 'vitest'
import { createTurnstile } from '../../src/http/turnstile.js'

const turnOfTheLoop = () => new Promise(setImmediate)

/** Sends so many through at once, and records who has passed. */
function crowd(turnstile: () => Promise<void> | undefined, size: number, passed: number[] = []) {
  const all = Array.from({ length: size }, async (_, i) => {
    await turnstile()
    passed.push(i)
  })
  return { passed, all: Promise.all(all) }
}

it('lets so many through at once, and the others in the turns that follow, in their order', async () => {
  const { passed, all } = crowd(createTurnstile(3), 8)
  const counts: number[] = []
  for (let i = 0; i < 4; i++) {
    await Promise.resolve()
    counts.push(passed.length)
    await turnOfTheLoop()
  }
  await all
  expect(counts).toEqual([3, 6, 8, 8])
  expect(passed).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

it('has nobody overtake those who wait', async () => {
  const turnstile = createTurnstile(1)
  const { passed, all } = crowd(turnstile, 3)
  await turnOfTheLoop()
  const late = (async () => {
    await turnstile()
    passed.push(99)
  })()
  await Promise.all([all, late])
  expect(passed).toEqual([0, 1, 2, 99])
})

it('lets one who comes alone through at once, every time', async () => {
  const turnstile = createTurnstile(1)
  for (let i = 0; i < 3; i++) {
    expect(turnstile()).toBeUndefined()
    await turnOfTheLoop()
    await turnOfTheLoop()
  }
})

it('rests when nobody comes', () => {
  vi.useFakeTimers({ toFake: ['setImmediate'] })
  onTestFinished(() => void vi.useRealTimers())
  crowd(createTurnstile(1), 3)
  for (let turn = 0; turn < 4; turn++) vi.advanceTimersToNextTimer()
  expect(vi.getTimerCount()).toBe(0)
})
