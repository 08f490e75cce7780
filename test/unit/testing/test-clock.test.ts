import { afterEach, describe, expect, it, vi } from 'vitest'
import { testClock } from '../../../src/testing/test-clock.js'
import { expectMisuse } from '../../support/failures.js'

const NOON = Date.parse('2030-01-01T12:00:00Z')

/** Creates a test clock and its source. */
function running(start = NOON) {
  const source = { now: start }
  return { source, clock: testClock(() => source.now) }
}

afterEach(() => void vi.useRealTimers())

describe('a test clock', () => {
  it('runs until it is set, then stands still, and runs again after a reset', () => {
    const { source, clock } = running()
    expect(clock()).toBe(NOON)
    source.now += 5
    expect(clock()).toBe(NOON + 5)
    clock.set('2040-01-01')
    source.now += 5
    expect(clock()).toBe(Date.parse('2040-01-01'))
    clock.reset()
    expect(clock()).toBe(NOON + 10)
  })

  it('goes ahead and runs on', () => {
    const { source, clock } = running()
    clock.advance('1h')
    source.now += 5
    clock.advance(2)
    expect(clock()).toBe(NOON + 3_602_005)
    clock.reset()
    expect(clock()).toBe(NOON + 5)
  })

  it('goes ahead and stands still, where it was set', () => {
    const { source, clock } = running()
    clock.advance('3 days')
    clock.set(NOON)
    clock.advance('15m')
    source.now += 5
    expect(clock()).toBe(NOON + 900_000)
  })

  it.each([new Date(NOON), NOON, '2030-01-01T12:00:00Z', '2030-01-01T12:00:00.000Z', '2030-01-01T14:00+02:00'])(
    'is set by %j',
    (moment) => {
      const { clock } = running(0)
      clock.set(moment)
      expect(clock()).toBe(NOON)
    },
  )

  it('is set by a Date from before a test runner made its own, and by one from after', () => {
    const { clock } = running()
    const real = new Date('2035-01-01')
    vi.useFakeTimers({ toFake: ['Date'] })
    clock.set(real)
    expect(clock()).toBe(Date.parse('2035-01-01'))
    clock.set(new Date('2036-01-01'))
    expect(clock()).toBe(Date.parse('2036-01-01'))
  })

  it.each([
    ['seconds', 1_893_456_000, 'Did you pass seconds?'],
    ['a Date that is none', new Date('later'), 'but is an object'],
    ['a word', 'tomorrow', 'but is a string of 8 characters'],
    ['a moment without its time zone', '2030-01-01T12:00:00', 'clock.set: the moment must be a Date'],
    ['a day that is none', '2030-13-01', 'clock.set: the moment must be a Date'],
    ['a time before 1972', '1971-12-31', 'from 1972 to 9998'],
    ['a time after 9998', Date.UTC(9999, 0), 'from 1972 to 9998'],
    ['nothing', undefined, 'but is missing'],
    ['NaN', Number.NaN, 'but is NaN'],
  ])('is not set by %s, and goes on as it was', (_, moment, says) => {
    const { clock } = running()
    expectMisuse(() => clock.set(moment as never), says)
    expect(clock()).toBe(NOON)
  })

  it.each([
    ['milliseconds', 3_600_000, 'Did you pass milliseconds'],
    ['a time without a unit', '60', 'needs a unit'],
    ['a way back', -1, 'clock.advance: the time must be'],
    ['nothing', undefined, 'but is missing'],
    ['eleven years', '11 years', 'to 3660 days'],
  ])('does not go ahead by %s', (_, time, says) => {
    const { clock } = running()
    expectMisuse(() => clock.advance(time as never), says)
    expect(clock()).toBe(NOON)
  })
})
