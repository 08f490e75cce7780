import { type Io, paint, say } from '../../io.js'
import type { Verdict } from '../run.js'
import { progressOn, type Report, summaryOf } from './report.js'

const COLOURS = { holds: 'green', fails: 'red', skipped: 'yellow' } as const
const ID_WIDTH = 20

/** Creates a report with a line for each row, and a second line for a fault. */
export function text(io: Io): Report {
  const { progress, clear } = progressOn(io.stderr)
  const word = (verdict: Verdict) => paint(io.stdout, COLOURS[verdict], verdict.padEnd(8))
  return {
    began: (title, index, count) => progress(`${index + 1}/${count} ${title}`),
    ended({ id, title, source, verdict, detail }) {
      clear()
      say(io, `${word(verdict)}${id.padEnd(ID_WIDTH)}${title} ${paint(io.stdout, 'dim', `(${source})`)}`)
      if (detail) say(io, `${' '.repeat(8 + ID_WIDTH)}${verdict === 'fails' ? 'found: ' : ''}${detail}`)
    },
    done(url, results) {
      say(io, `\n${summaryOf(url, results)}`)
    },
  }
}
