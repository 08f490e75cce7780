const digits = (value) => (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0))

/** Returns a median with its interval, as in `0.96 (0.95–0.97)`. */
export const spread = ({ median, low, high }) =>
  low === high ? digits(median) : `${digits(median)} (${digits(low)}–${digits(high)})`

const NUMBER = /^(-?\d|–|$)/

/** Returns a Markdown table. Its columns are aligned, so that a terminal shows it too. Columns of numbers are on the right. */
export function table(heads, rows) {
  const lines = [heads, ...rows].map((line) => line.map(String))
  const columns = heads.map((_, at) => ({
    width: Math.max(3, ...lines.map((line) => line[at].length)),
    isRight: at > 0 && lines.slice(1).every((line) => NUMBER.test(line[at])),
  }))
  const padded = (cell, { width, isRight }) => (isRight ? cell.padStart(width) : cell.padEnd(width))
  const show = (line) => `| ${line.map((cell, at) => padded(cell, columns[at])).join(' | ')} |`
  const rule = columns.map(({ width, isRight }) => `${'-'.repeat(width - 1)}${isRight ? ':' : '-'}`)
  return [lines[0], rule, ...lines.slice(1)].map(show).join('\n')
}

/** Rows of a table of targets. A target never fails a run, because a busy machine changes it. */
const verdict = (what, ratio, holds) => [what, spread(ratio), holds ? 'yes' : 'NO']
export const atMost = (what, ratio, limit) => verdict(`${what}: at most ${limit}`, ratio, ratio.median <= limit)
export const atLeast = (what, ratio, limit) => verdict(`${what}: at least ${limit}`, ratio, ratio.median >= limit)
