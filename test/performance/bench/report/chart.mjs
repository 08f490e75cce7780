const WIDTH = 760
const LABELS = 300
const VALUES = 60
const BARS = WIDTH - LABELS - VALUES - 20
const LINE = 22
const HEADING = 34

const STYLE = `
  .ground { fill: #ffffff } text { font: 12px system-ui, sans-serif; fill: #1f2328 } .heading { font-weight: 600 }
  .own { fill: #1a7f37 } .other { fill: #8c959f } .base { fill: #d0d7de }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } text { fill: #e6edf3 } .own { fill: #3fb950 } .other { fill: #768390 } .base { fill: #373e47 }
  }`

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text) => text.replace(/[&<>"]/g, (character) => ESCAPES[character])

/** Creates the scale from a value to a share of the width: linear from zero, or logarithmic from `from`. */
const SCALES = {
  linear: (most) => (value) => value / most,
  log: (most, from) => (value) => Math.max(0, Math.log10(value / from)) / Math.log10(most / from),
}

/**
 * Draws horizontal bars as SVG with its own background, because an image on GitHub does not know the theme of its page.
 * @param groups each `{ heading, scale, from?, full?, rows: [{ name, kind: own | other | base, value, label }] }`. `full` is the value
 *   of a bar of the whole width, when no value is greater
 */
export function chart({ title, description, groups }) {
  let y = 8
  const text = (x, content, more = '') => `<text x="${x}" y="${y + 15}"${more}>${escaped(content)}</text>`
  const shapes = groups.flatMap(({ heading, scale, from, full = 0, rows }) => {
    const share = SCALES[scale](Math.max(full, ...rows.map(({ value }) => value)), from)
    y += 8
    const lines = [text(12, heading, ' class="heading"')]
    y += HEADING - 8
    for (const { name, kind, value, label } of rows) {
      const width = Math.max(1, share(value) * BARS).toFixed(1)
      lines.push(
        text(LABELS - 8, name, ' text-anchor="end"'),
        `<rect class="${kind}" x="${LABELS}" y="${y + 3}" width="${width}" height="${LINE - 6}"/>`,
        text((LABELS + Number(width) + 6).toFixed(1), label),
      )
      y += LINE
    }
    return lines
  })
  const height = y + 12
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>${STYLE}
</style>
<rect class="ground" width="100%" height="100%"/>
${shapes.join('\n')}
</svg>
`
}
