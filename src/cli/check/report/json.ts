import { type Io, say } from '../../io.js'
import { atEnd, countsOf, type Report } from './report.js'

/** Creates a report that prints one JSON object at the end. */
export function json(io: Io): Report {
  return atEnd(io.stderr, (url, results) => {
    const counts = countsOf(results)
    say(io, JSON.stringify({ url, holds: counts.fails === 0, counts, rows: results }, null, 2))
  })
}
