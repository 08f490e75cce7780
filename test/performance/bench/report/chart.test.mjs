import { expect, it } from 'vitest'
import { chart } from './chart.mjs'

const rows = [
  { name: 'a & b', kind: 'own', value: 1, label: '1 <µs>' },
  { name: 'c', kind: 'other', value: 10, label: '10' },
  { name: 'd', kind: 'other', value: 100, label: '100' },
]
const widthsOf = (svg) =>
  [...svg.matchAll(/<rect class="(?:own|other)".* width="([\d.]+)"/g)].map(([, width]) => Number(width))
const draw = (group) => chart({ title: 't', description: 'd', groups: [{ heading: 'h', rows, ...group }] })

it('draws a bar for each row, to scale', () => {
  const [least, more, most] = widthsOf(draw({ scale: 'linear' }))
  expect(most / more).toBeCloseTo(10, 0)
  expect(least).toBeGreaterThanOrEqual(1)
})

it('leaves a bar short of the whole width that falls short of the whole', () => {
  expect(widthsOf(draw({ scale: 'linear', full: 200 })).at(-1)).toBeCloseTo(190)
  expect(widthsOf(draw({ scale: 'linear', full: 50 })).at(-1)).toBeCloseTo(380)
})

it('draws powers of ten as equal steps', () => {
  const [first, second, third] = widthsOf(draw({ scale: 'log', from: 0.1 }))
  expect(second / first).toBeCloseTo(2, 1)
  expect(third / first).toBeCloseTo(3, 1)
})

it('names itself to readers that see no picture, and escapes what it writes', () => {
  const svg = draw({ scale: 'linear' })
  expect(svg).toContain('<title id="title">t</title>')
  expect(svg).toContain('<desc id="description">d</desc>')
  expect(svg).toContain('a &amp; b')
  expect(svg).toContain('1 &lt;µs&gt;')
})
