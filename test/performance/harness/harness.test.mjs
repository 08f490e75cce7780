import { expect, it } from 'vitest'
import { inRounds, medianWithInterval, rowsOf } from './statistics.mjs'

it('gives the interval of a median, which extreme values do not change', () => {
  const values = Array.from({ length: 100 }, (_, i) => (i > 80 ? 1e6 : i))
  expect(medianWithInterval(values)).toEqual({ median: 49.5, low: 39, high: 60 })
  expect(medianWithInterval([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
})

it('compares two variants within each round, so that a disturbed round changes no ratio', async () => {
  let call = 0
  const variants = [1, 2].map((is) => ({ name: `${is}`, is }))
  const rounds = await inRounds(3, variants, async ({ is }) => is * 10 ** (call++ >> 1))
  expect(rowsOf(rounds, { base: '1' }).map(({ ratio }) => ratio.median)).toEqual([1, 2])
  await expect(inRounds(1, [{ name: 'a' }, { name: 'a' }], () => 0)).rejects.toThrow('same name')
})
