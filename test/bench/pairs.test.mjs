import { expect, it } from 'vitest'
import { ofPairs } from './pairs.mjs'

const quotient = ({ base, held }) => held / base
const pairsOf = (...quotients) => quotients.map((value) => ({ base: 2, held: 2 * value }))

it('takes the median of all pairs, and the middle half of the rounds for the spread', () => {
  // One round was disturbed: it widens the spread, and leaves the median where the pairs are.
  const rounds = [pairsOf(1, 1, 1), pairsOf(1, 1.1, 1), pairsOf(3, 4, 5)]
  expect(ofPairs(rounds, quotient)).toEqual({ median: 1, low: 1, high: 2.5, byRound: [1, 1, 4] })
})

it('divides within each pair', () => {
  const rounds = [
    [
      { base: 1, held: 2 },
      { base: 100, held: 200 },
      { base: 10, held: 20 },
    ],
  ]
  expect(ofPairs(rounds, quotient)).toMatchObject({ median: 2, byRound: [2] })
})
