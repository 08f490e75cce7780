import { type Io, type Output, say } from '../../io.js'
import type { Result, Verdict } from '../run.js'

/** Prints the results of a check. */
export interface Report {
  began(title: string, index: number, count: number): void
  ended(result: Result): void
  done(url: string, results: readonly Result[]): void
}

/** Creates a report that writes one text at the end. */
export const atEnd =
  (write: (url: string, results: readonly Result[]) => string) =>
  (io: Io): Report => {
    const { progress, clear } = progressOn(io.stderr)
    return {
      began: (title, index, count) => progress(`${index + 1}/${count} ${title}`),
      ended: clear,
      done: (url, results) => say(io, write(url, results)),
    }
  }

/** Shows the current row on one line of a terminal. Shows nothing on other streams. */
export function progressOn(stream: Output) {
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

export function countsOf(results: readonly Result[]): Record<Verdict, number> {
  const counts = { holds: 0, fails: 0, skipped: 0 }
  for (const { verdict } of results) counts[verdict]++
  return counts
}

/** Returns the counts as one line. */
export function summaryOf(url: string, results: readonly Result[]): string {
  const { holds, fails, skipped } = countsOf(results)
  return `${url}: ${holds} hold, ${fails} ${fails === 1 ? 'does' : 'do'} not, ${skipped} skipped`
}
