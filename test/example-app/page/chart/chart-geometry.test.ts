import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chartOf, type Series, scaleOf } from '../../../../example-app/page/chart/chart-geometry.js'

const DEMO: Series[] = [
  {
    name: 'North',
    points: [point('2013-05-02', 123_750n), point('2013-05-03', 89_990n), point('2013-05-06', 40_005n)],
  },
  { name: 'South', points: [point('2013-05-02', 310_000n), point('2013-05-03', 9n), point('2013-05-06', -42_500n)] },
]

function point(day: string, cents: bigint) {
  return { day, cents }
}

const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
const day = fc.integer({ min: 1, max: 28 }).map((date) => `2013-02-${String(date).padStart(2, '0')}`)
const points = fc.uniqueArray(fc.record({ day, cents: amount }), { selector: (one) => one.day, maxLength: 28 })
const anySeries = fc.array(fc.record({ name: fc.string(), points }), { maxLength: 4 })

describe('the scale', () => {
  test('reaches around zero and every amount, in a few round steps', () => {
    fc.assert(
      fc.property(fc.array(amount), (amounts) => {
        const { least, most, step } = scaleOf(amounts)
        for (const cents of [0n, ...amounts]) expect(cents >= least && cents <= most).toBe(true)
        expect([least % step, most % step]).toEqual([0n, 0n])
        expect(Number((most - least) / step)).toBeGreaterThanOrEqual(1)
        expect(Number((most - least) / step)).toBeLessThanOrEqual(7)
        expect(String(step)).toMatch(/^[125]0{2,}$/)
      }),
    )
  })
})

describe('the bars', () => {
  test('of the demo data', () => {
    const { bars, ticks, days, zero } = chartOf(DEMO, 800)
    expect(ticks.map(({ label }) => label)).toEqual(['−1,000', '0', '1,000', '2,000', '3,000', '4,000'])
    expect(days.map(({ lines }) => lines)).toEqual([['2013-05-02'], ['2013-05-03'], ['2013-05-06']])
    expect(bars.map(({ label }) => label)).toContain('South, 2013-05-06: −425.00')
    const [north, south] = [bars[0], bars[3]]
    expect(south?.height).toBeCloseTo(((north?.height ?? 0) * 310_000) / 123_750, 1)
    expect(bars.map(({ y, height }) => (y + height <= zero + 1e-9 ? 'up' : 'down'))).toEqual([
      ...['up', 'up', 'up'],
      ...['up', 'up', 'down'],
    ])
  })

  test('stand beside each other, within the chart, and one for every amount', () => {
    fc.assert(
      fc.property(anySeries, fc.integer({ min: 200, max: 2000 }), (series, available) => {
        const { bars, width, height, left, zero } = chartOf(series, available)
        expect(bars).toHaveLength(series.flatMap(({ points }) => points).length)
        expect(width).toBeGreaterThanOrEqual(available)
        for (const bar of bars) {
          expect(bar.x).toBeGreaterThanOrEqual(left)
          expect(bar.x + bar.width).toBeLessThanOrEqual(width + 1e-6)
          expect(bar.y).toBeGreaterThanOrEqual(0)
          expect(bar.y + bar.height).toBeLessThanOrEqual(height)
          // Each begins or ends at zero.
          expect(Math.min(Math.abs(bar.y - zero), Math.abs(bar.y + bar.height - zero))).toBeLessThan(1e-6)
        }
        const inOrder = bars.toSorted((a, b) => a.x - b.x)
        for (const [index, bar] of inOrder.slice(1).entries()) {
          expect(bar.x).toBeGreaterThan((inOrder[index]?.x ?? 0) + (inOrder[index]?.width ?? 0))
        }
      }),
    )
  })

  test('in little room, the year has its own line, and the chart is no wider than its place', () => {
    const { width, days } = chartOf(DEMO, 286)
    expect(width).toBe(286)
    expect(days.map(({ lines }) => lines)).toEqual([
      ['05-02', '2013'],
      ['05-03', '2013'],
      ['05-06', '2013'],
    ])
  })

  test('many days make it wider than its place, not narrower bars than can be seen', () => {
    const days = Array.from({ length: 28 }, (_, index) => point(`2013-02-${String(index + 1).padStart(2, '0')}`, 100n))
    const { width, bars } = chartOf([{ name: 'North', points: days }], 340)
    expect(width).toBeGreaterThan(28 * 80)
    for (const bar of bars) expect(bar.width).toBeGreaterThan(20)
  })
})
