import { moneyText, wholeMoneyText } from '../money.js'

export interface Series {
  name: string
  points: readonly { day: string; cents: bigint }[]
}

export interface Bar {
  /** The number of the series, from 0. */
  series: number
  x: number
  y: number
  width: number
  height: number
  label: string
}

export interface Chart {
  width: number
  height: number
  /** The left edge of the bars, after the scale. */
  left: number
  zero: number
  bars: Bar[]
  ticks: { y: number; label: string }[]
  /** Each label has one line or two. */
  days: { x: number; lines: string[] }[]
}

/** The geometry of a chart, in CSS pixels. */
const HEIGHT = 260
const TOP = 12
const BOTTOM = 30
const DIGIT = 7.5
export const LINE = 16
const DAY_LEAST = 84
const DAY_LEAST_TWO_LINES = 48
const BAR_MOST = 44
const MOST_STEPS = 5n

/**
 * Places the bars of all series side by side for each day, above and below zero. In little room the year has its own line. Many days make
 * the chart wider than requested.
 */
export function chartOf(series: readonly Series[], available: number): Chart {
  const days = [...new Set(series.flatMap(({ points }) => points.map(({ day }) => day)))].sort()
  const { least, most, step } = scaleOf(series.flatMap(({ points }) => points.map(({ cents }) => cents)))
  const labels: string[] = []
  for (let cents = least; cents <= most; cents += step) labels.push(wholeMoneyText(cents))
  const left = Math.ceil(Math.max(...labels.map(({ length }) => length)) * DIGIT) + 10
  const room = (available - left) / Math.max(1, days.length)
  const hasTwoLines = room < DAY_LEAST && room >= DAY_LEAST_TWO_LINES
  const dayWidth = hasTwoLines ? room : Math.max(DAY_LEAST, room)
  const plot = HEIGHT - TOP - BOTTOM - (hasTwoLines ? LINE : 0)
  // Calculates in whole numbers until the end, because an amount may have more digits than a floating-point number.
  const yOf = (cents: bigint) => TOP + (Number(((most - cents) * 100_000n) / (most - least)) / 100_000) * plot
  const barWidth = Math.min(BAR_MOST, (dayWidth * 0.72) / Math.max(1, series.length))
  const zero = yOf(0n)
  const middleOf = (day: string) => left + (days.indexOf(day) + 0.5) * dayWidth
  const bars = series.flatMap(({ name, points }, index) =>
    points.map(({ day, cents }): Bar => {
      // Keeps small amounts visible.
      const height = cents === 0n ? 0 : Math.max(1.5, Math.abs(yOf(cents) - zero))
      return {
        series: index,
        x: middleOf(day) + (index - series.length / 2) * barWidth,
        y: cents < 0n ? zero : zero - height,
        width: barWidth - 3,
        height,
        label: `${name}, ${day}: ${moneyText(cents)}`,
      }
    }),
  )
  return {
    width: Math.max(available, left + days.length * dayWidth),
    height: HEIGHT,
    left,
    zero,
    bars,
    ticks: labels.map((label, index) => ({ y: yOf(least + BigInt(index) * step), label })),
    days: days.map((day) => ({ x: middleOf(day), lines: hasTwoLines ? [day.slice(5), day.slice(0, 4)] : [day] })),
  }
}

/** Returns a few round steps from the lowest to the highest amount, including zero. */
export function scaleOf(amounts: readonly bigint[]): { least: bigint; most: bigint; step: bigint } {
  const top = amounts.reduce((a, b) => (b > a ? b : a), 0n)
  const bottom = amounts.reduce((a, b) => (b < a ? b : a), 0n)
  const step = roundStep(top - bottom)
  const upTo = (cents: bigint) => ((cents + step - 1n) / step) * step
  const [least, most] = [-upTo(-bottom), upTo(top)]
  return least === most ? { least, most: step, step } : { least, most, step }
}

/** Returns 1, 2 or 5 times a power of ten in cents, at least a whole unit. */
function roundStep(range: bigint): bigint {
  for (let power = 100n; ; power *= 10n) {
    for (const factor of [1n, 2n, 5n]) {
      if (range <= power * factor * MOST_STEPS) return power * factor
    }
  }
}
