import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { createSchedule, steadyClock } from '../../../../src/shared/queues/schedule.js'

/** A schedule whose ticks the test makes. */
function manual() {
  let now = 0
  let tick: (() => void) | undefined
  const start = vi.fn((given: () => void) => {
    tick = given
    return () => {
      tick = undefined
    }
  })
  const schedule = createSchedule(() => now, start)
  const goTo = (ms: number) => {
    now = ms
    tick?.()
  }
  return { schedule, goTo, start, isTicking: () => tick !== undefined }
}

it('calls once, and not before the time', () => {
  const { schedule, goTo } = manual()
  const run = vi.fn()
  schedule.at(5000, run)
  goTo(4999)
  expect(run).not.toHaveBeenCalled()
  goTo(5000)
  goTo(9000)
  expect(run).toHaveBeenCalledOnce()
})

it('has one timer for all calls, and none without a call', () => {
  const { schedule, goTo, start, isTicking } = manual()
  const cancels = Array.from({ length: 100 }, (_, i) => schedule.at(i * 100, () => {}))
  expect(start).toHaveBeenCalledOnce()
  for (const cancel of cancels) cancel()
  expect(isTicking()).toBe(false)
  schedule.at(1000, () => {})
  expect(isTicking()).toBe(true)
  goTo(1000)
  expect(isTicking()).toBe(false)
})

it('stops its timer when a call cancels the last other call', () => {
  const { schedule, goTo, isTicking } = manual()
  const never = vi.fn()
  const cancel = schedule.at(9000, never)
  schedule.at(1000, cancel)
  goTo(1000)
  expect(isTicking()).toBe(false)
  const run = vi.fn()
  schedule.at(10_000, run)
  goTo(10_000)
  expect(never).not.toHaveBeenCalled()
  expect(run).toHaveBeenCalledOnce()
})

it('makes the other calls when one throws', async () => {
  const { schedule, goTo } = manual()
  const errors: unknown[] = []
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.once('uncaughtException', (error) => errors.push(error))
  const run = vi.fn()
  schedule.at(1000, () => {
    throw new Error('close')
  })
  schedule.at(1000, run)
  goTo(1000)
  expect(run).toHaveBeenCalledOnce()
  await vi.waitFor(() => expect(errors).toEqual([new Error('close')]))
  for (const listener of listeners) process.on('uncaughtException', listener)
})

it('keeps a call of the same second when another is cancelled', () => {
  const { schedule, goTo } = manual()
  const [cancelled, kept] = [vi.fn(), vi.fn()]
  const cancel = schedule.at(5000, cancelled)
  schedule.at(5000, kept)
  cancel()
  cancel()
  goTo(5000)
  expect(cancelled).not.toHaveBeenCalled()
  expect(kept).toHaveBeenCalledOnce()
})

it('keeps a call of the same second when one that was already made is cancelled', () => {
  const { schedule, goTo } = manual()
  const [first, later] = [vi.fn(), vi.fn()]
  const cancel = schedule.at(5000, first)
  goTo(5000)
  schedule.at(5000, later)
  cancel()
  goTo(6000)
  expect(first).toHaveBeenCalledOnce()
  expect(later).toHaveBeenCalledOnce()
})

it('calls, in any sequence of additions, cancellations and times, what is due and not cancelled, once', () => {
  const step = fc.oneof(
    fc.record({ at: fc.integer({ min: 0, max: 20_000 }) }),
    fc.record({ cancel: fc.nat(30) }),
    fc.record({ goTo: fc.integer({ min: 0, max: 25_000 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { schedule, goTo, isTicking } = manual()
      const calls: { at: number; made: number; state: 'open' | 'cancelled' | 'due'; cancel: () => void }[] = []
      for (const one of steps) {
        if ('at' in one) {
          const call = { at: one.at, made: 0, state: 'open' as const, cancel: () => {} }
          call.cancel = schedule.at(one.at, () => {
            call.made++
          })
          calls.push(call)
        } else if ('cancel' in one) {
          const call = calls[one.cancel]
          call?.cancel()
          if (call?.state === 'open') call.state = 'cancelled'
        } else {
          goTo(one.goTo)
          // A second is due when it has passed entirely.
          const isDue = (at: number) => Math.ceil(at / 1000) * 1000 <= one.goTo
          for (const call of calls) if (call.state === 'open' && isDue(call.at)) call.state = 'due'
        }
        expect(calls.map(({ made }) => made)).toEqual(calls.map(({ state }) => (state === 'due' ? 1 : 0)))
        expect(isTicking()).toBe(calls.some(({ state }) => state === 'open'))
      }
    }),
  )
})

it('has a clock that stops when its clock is set back, and then continues', () => {
  let now = 10_000
  const clock = steadyClock(() => now)
  expect([clock.now(), clock.timeOf(12_000)]).toEqual([10_000, 12_000])
  now = 4000
  expect([clock.now(), clock.timeOf(6000)]).toEqual([10_000, 12_000])
  now = 5000
  expect(clock.now()).toBe(11_000)
  now = 1000
  expect([clock.timeOf(1000), clock.now()]).toEqual([11_000, 11_000])
})
