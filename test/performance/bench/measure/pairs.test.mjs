import { expect, it } from 'vitest'
import { ofPairs, quotientOf } from './pairs.mjs'

it('divides within each pair', () => {
  const pairs = [1, 100, 10].map((base) => ({ base, held: 2 * base }))
  expect(ofPairs(pairs, ({ base, held }) => held / base)).toEqual({ median: 2, low: 2, high: 2 })
})

it('takes the ends of both intervals for how many times one is the other', () => {
  const one = { median: 6, low: 4, high: 8 }
  expect(quotientOf(one, { median: 2, low: 1, high: 4 })).toEqual({ median: 3, low: 1, high: 8 })
})
