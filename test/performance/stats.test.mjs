import { describe, expect, it } from 'vitest'
import { differenceOf, median, medianWithInterval, pairedRatio, quantile, quotientOf, summary } from './stats.mjs'

describe('the statistics of the bench', () => {
  it.each([
    [[3], 0.5, 3],
    [[3, 1, 2], 0.5, 2],
    [[4, 1, 3, 2], 0.5, 2.5],
    [[5, 1, 4, 2, 3], 0.25, 2],
    [[5, 1, 4, 2, 3], 0, 1],
    [[5, 1, 4, 2, 3], 1, 5],
    [[0, 10], 0.99, 9.9],
  ])('quantile of %j at %d is %d', (values, q, expected) => {
    expect(quantile(values, q)).toBeCloseTo(expected)
  })

  it('leaves the values as they are', () => {
    const values = [3, 1, 2]
    median(values)
    expect(values).toEqual([3, 1, 2])
  })

  it('takes the middle half as the spread', () => {
    expect(summary([1, 2, 3, 4, 5])).toEqual({ median: 3, low: 2, high: 4 })
  })

  it('gives the interval that the true median lies in', () => {
    const values = Array.from({ length: 100 }, (_, i) => i)
    expect(medianWithInterval(values)).toEqual({ median: 49.5, low: 39, high: 60 })
    expect(medianWithInterval(values.map((value) => (value > 80 ? 1e6 : value)))).toEqual({
      median: 49.5,
      low: 39,
      high: 60,
    })
    expect(medianWithInterval([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
  })

  it('divides within each round before it takes the median', () => {
    // The second round was disturbed for both.
    expect(pairedRatio([2, 40, 2], [1, 20, 1]).median).toBe(2)
    expect(() => pairedRatio([1], [1, 2])).toThrow(RangeError)
  })

  it('takes the ends of both intervals for a ratio and for a difference', () => {
    const one = { median: 6, low: 4, high: 8 }
    const other = { median: 2, low: 1, high: 4 }
    expect(quotientOf(one, other)).toEqual({ median: 3, low: 1, high: 8 })
    expect(differenceOf(one, other)).toEqual({ median: 4, low: 0, high: 7 })
  })
})
