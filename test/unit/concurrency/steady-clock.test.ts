import { expect, it } from 'vitest'
import { steadyClock } from '../../../src/concurrency/steady-clock.js'

it('stops when the clock is set back, and continues from the next reading', () => {
  const readings = [5, 9, 4, 6, 2, 3]
  const now = steadyClock(() => readings.shift() ?? expect.fail('read twice'))
  expect(Array.from({ length: 6 }, now)).toEqual([5, 9, 9, 11, 11, 12])
})
