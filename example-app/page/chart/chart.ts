import { element, svg } from '../views/dom.js'
import { type Chart, chartOf, LINE, type Series } from './chart-geometry.js'

/** The number of colours in the style sheet. Every second series is hatched, so that series do not differ only in colour. */
const COLOURS = 4

/** Creates a bar chart that is redrawn when its width changes. Screen readers see an image, because a table has the same amounts. */
export function barChart(series: readonly Series[], description: string): HTMLElement {
  const place = element('div', { class: 'chart', role: 'region', 'aria-label': 'Chart', tabindex: 0 })
  const legend = element(
    'ul',
    { class: 'legend' },
    ...series.map(({ name }, index) => element('li', {}, swatch(index), name)),
  )
  let drawn = 0
  new ResizeObserver(() => {
    const width = Math.floor(place.clientWidth)
    if (width === drawn || width === 0) return
    drawn = width
    place.replaceChildren(draw(chartOf(series, width), description))
  }).observe(place)
  return element('figure', {}, legend, place)
}

function draw({ width, height, left, zero, bars, ticks, days }: Chart, description: string): SVGSVGElement {
  return svg(
    'svg',
    { role: 'img', 'aria-label': description, width, height, viewBox: `0 0 ${width} ${height}` },
    ...ticks.flatMap(({ y, label }) => [
      svg('line', { class: 'grid', x1: left, x2: width, y1: y, y2: y }),
      svg('text', { x: left - 8, y: y + 4, 'text-anchor': 'end' }, label),
    ]),
    ...bars.map(({ series, label, ...place }) => svg('g', {}, svg('title', {}, label), ...shapes(series, place))),
    svg('line', { class: 'zero', x1: left, x2: width, y1: zero, y2: zero }),
    ...days.flatMap(({ x, lines }) =>
      lines.map((line, index) => {
        const y = height - 8 - (lines.length - 1 - index) * LINE
        return svg('text', { x, y, 'text-anchor': 'middle' }, line)
      }),
    ),
  )
}

function swatch(series: number): SVGSVGElement {
  const size = { width: 14, height: 14 }
  return svg('svg', { ...size, 'aria-hidden': 'true' }, ...shapes(series, { x: 1, y: 1, width: 12, height: 12 }))
}

interface Place {
  x: number
  y: number
  width: number
  height: number
}

function shapes(series: number, { x, y, width, height }: Place): SVGElement[] {
  const bar = svg('rect', { class: `series-${series % COLOURS}`, x, y, width, height })
  if (series % 2 === 0) return [bar]
  const stripes = []
  for (let top = y + 3; top < y + height - 1; top += 5) {
    stripes.push(svg('line', { class: 'stripe', x1: x, x2: x + width, y1: top, y2: top }))
  }
  return [bar, ...stripes]
}
