import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chartOf, scaleOf } from '../../../example-app/page/chart/chart-geometry.js'

const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
const dayOf = (date: number) => `2013-02-${String(date).padStart(2, '0')}`
const points = fc.uniqueArray(fc.record({ day: fc.integer({ min: 1, max: 28 }).map(dayOf), cents: amount }), {
  selector: ({ day }) => day,
  maxLength: 28,
})
const series = fc.array(fc.record({ name: fc.string(), points }), { maxLength: 4 })

test('the scale reaches around zero and every amount, in a few round steps', () => {
  fc.assert(
    fc.property(fc.array(amount), (amounts) => {
      const { least, most, step } = scaleOf(amounts)
      for (const cents of [0n, ...amounts]) expect(cents >= least && cents <= most).toBe(true)
      expect([least % step, most % step]).toEqual([0n, 0n])
      expect([1, 2, 3, 4, 5, 6, 7]).toContain(Number((most - least) / step))
      expect(String(step)).toMatch(/^[125]0{2,}$/)
    }),
  )
})

test('every amount has a bar, from zero up or down, within the chart and beside the other bars', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 200, max: 2000 }), (shown, available) => {
      const { bars, width, height, left, zero } = chartOf(shown, available)
      const amounts = shown.flatMap(({ points }) => points.map(({ cents }) => cents))
      expect(bars).toHaveLength(amounts.length)
      expect(width).toBeGreaterThanOrEqual(available)
      for (const [index, bar] of bars.entries()) {
        const isDown = (amounts[index] ?? 0n) < 0n
        expect(bar.x).toBeGreaterThanOrEqual(left)
        expect(bar.x + bar.width).toBeLessThanOrEqual(width + 1e-6)
        expect(isDown ? bar.y : bar.y + bar.height).toBeCloseTo(zero, 6)
        expect(bar.y).toBeGreaterThanOrEqual(0)
        expect(bar.y + bar.height).toBeLessThanOrEqual(height)
      }
      const inOrder = bars.toSorted((a, b) => a.x - b.x)
      for (const [index, { x, width }] of inOrder.slice(0, -1).entries())
        expect(inOrder[index + 1]?.x).toBeGreaterThan(x + width)
    }),
  )
})

test('labels and heights fit the amounts; a narrow place gets two lines for a day, and many days a wider chart', () => {
  const of = (cents: bigint[]) => [
    { name: 'South', points: cents.map((one, i) => ({ day: dayOf(i + 1), cents: one })) },
  ]
  const { bars, ticks, days } = chartOf(of([310_000n, 155_000n, -42_500n]), 800)
  expect(ticks.map(({ label }) => label)).toEqual(['−1,000', '0', '1,000', '2,000', '3,000', '4,000'])
  expect(bars.at(-1)?.label).toBe('South, 2013-02-03: −425.00')
  expect((bars[0]?.height ?? 0) / (bars[1]?.height ?? 0)).toBeCloseTo(2, 1)
  expect(days[0]?.lines).toEqual(['2013-02-01'])
  const narrow = chartOf(of([310_000n, 9n, -42_500n]), 286)
  expect([narrow.width, narrow.days[0]?.lines]).toEqual([286, ['02-01', '2013']])
  const many = chartOf(of(Array(28).fill(100n)), 340)
  expect(many.width).toBeGreaterThan(28 * 80)
  for (const { width } of many.bars) expect(width).toBeGreaterThan(20)
})
