import { expect, it } from 'vitest'
import { inRounds } from './rounds.mjs'

const VARIANTS = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]

it('measures every variant once a round, and not always in the same order', async () => {
  const order = []
  const values = await inRounds(7, VARIANTS, async ({ name }) => order.push(name))
  expect(Object.values(values).map((list) => list.length)).toEqual([7, 7, 7])
  const rounds = Array.from({ length: 7 }, (_, i) => order.slice(3 * i, 3 * i + 3))
  expect(rounds.map((round) => round.toSorted())).toEqual(Array(7).fill(['a', 'b', 'c']))
  expect(new Set(rounds.map(String)).size).toBeGreaterThan(1)
})

it('refuses two variants of one name', async () => {
  await expect(inRounds(1, [{ name: 'a' }, { name: 'a' }], () => 0)).rejects.toThrow('same name')
})
