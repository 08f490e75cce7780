import { type Io, type Output, paint, say } from '../io.js'
import type { Result, Verdict } from './run.js'

/** Prints each result, and a summary at the end. */
export interface Report {
  began(title: string, index: number, count: number): void
  ended(result: Result): void
  done(url: string, results: readonly Result[]): void
}

const COLOURS = { holds: 'green', fails: 'red', skipped: 'yellow' } as const
const ID_WIDTH = 20

/** Creates a report with a line for each row, and a second line for a fault. */
export function lines(io: Io): Report {
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
      const { holds, fails, skipped } = countsOf(results)
      say(io, `\n${url}: ${holds} hold, ${fails} ${fails === 1 ? 'does' : 'do'} not, ${skipped} skipped`)
    },
  }
}

/** Creates a report that prints one JSON object at the end. */
export function json(io: Io): Report {
  const { progress, clear } = progressOn(io.stderr)
  return {
    began: (title, index, count) => progress(`${index + 1}/${count} ${title}`),
    ended: clear,
    done(url, results) {
      const counts = countsOf(results)
      say(io, JSON.stringify({ url, holds: counts.fails === 0, counts, rows: results }, null, 2))
    },
  }
}

/** Shows the current row on one line of a terminal. Shows nothing on other streams. */
function progressOn(stream: Output) {
  if (!stream.isTTY) return { progress: () => {}, clear: () => {} }
  const clear = () => void stream.write('\r\u001b[K')
  return {
    clear,
    progress(text: string) {
      clear()
      stream.write(text.slice(0, 72))
    },
  }
}

function countsOf(results: readonly Result[]): Record<Verdict, number> {
  const counts = { holds: 0, fails: 0, skipped: 0 }
  for (const { verdict } of results) counts[verdict]++
  return counts
}
