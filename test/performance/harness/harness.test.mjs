import { expect, it } from 'vitest'
import { checkGuard } from '../guards.mjs'
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

const seen = new Set()
it.each([
  ['refuses a good token', () => false],
  ['accepts a bad signature', (token) => token !== 'expired'],
  ['accepts an expired token', (token) => token !== 'forged'],
  ['refuses a good token that it has seen', (token) => token === 'good' && !seen.has(token) && !!seen.add(token)],
])('a guard is not measured when it %s', async (fault, accepts) => {
  const samples = { good: 'good', forged: 'forged', expired: 'expired' }
  await expect(checkGuard('peer', accepts, samples)).rejects.toThrow(`peer: ${fault}`)
})
