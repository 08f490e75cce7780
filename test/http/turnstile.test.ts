import * as timers from 'node:timers'
import { expect, it, vi } from 'vitest'
import { createTurnstile } from '../../src/http/turnstile.js'

vi.mock('node:timers', async (original) => {
  const real = await original<typeof timers>()
  return { ...real, setImmediate: vi.fn(real.setImmediate) }
})

const turnOfTheLoop = () => new Promise(setImmediate)

/** Sends so many through at once, and records who has passed. */
function crowd(turnstile: () => Promise<void> | undefined, size: number, passed: number[] = []) {
  const all = Array.from({ length: size }, async (_, i) => {
    await turnstile()
    passed.push(i)
  })
  return { passed, all: Promise.all(all) }
}

it('lets so many through at the end of each turn, in their order', async () => {
  const { passed, all } = crowd(createTurnstile(3, 100), 8)
  const counts: number[] = []
  for (let i = 0; i < 5; i++) {
    await Promise.resolve()
    counts.push(passed.length)
    await turnOfTheLoop()
  }
  await all
  expect(counts).toEqual([0, 3, 6, 8, 8])
  expect(passed).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

it('has nobody overtake those who wait', async () => {
  const turnstile = createTurnstile(1, 100)
  const { passed, all } = crowd(turnstile, 3)
  await turnOfTheLoop()
  const late = (async () => {
    await turnstile()
    passed.push(99)
  })()
  await Promise.all([all, late])
  expect(passed).toEqual([0, 1, 2, 99])
})

it('lets those through who come after it was empty', async () => {
  const turnstile = createTurnstile(1, 100)
  const { passed } = crowd(turnstile, 1)
  await turnOfTheLoop()
  await turnOfTheLoop()
  await crowd(turnstile, 2, passed).all
  expect(passed).toEqual([0, 0, 1])
})

it('has no more wait than may: who finds it full goes on at once', async () => {
  const turnstile = createTurnstile(2, 3)
  const full = Array.from({ length: 5 }, () => turnstile())
  expect(full.map((wait) => wait === undefined)).toEqual([false, false, false, true, true])
  await turnOfTheLoop()
  expect(turnstile()).toBeInstanceOf(Promise)
})

it('rests when nobody comes', async () => {
  vi.mocked(timers.setImmediate).mockClear()
  await crowd(createTurnstile(1, 100), 3).all
  for (let turn = 0; turn < 3; turn++) await turnOfTheLoop()
  expect(timers.setImmediate).toHaveBeenCalledTimes(3)
})
