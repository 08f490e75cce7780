import { version } from '../../version.js'
import { junit } from './junit.js'
import { atEnd, countsOf } from './report.js'
import { sarif } from './sarif.js'
import { text } from './text.js'

/** The formats of `--format`. */
export const FORMATS = {
  text,
  json: atEnd((url, results) => {
    const counts = countsOf(results)
    return JSON.stringify({ url, holds: counts.fails === 0, counts, rows: results }, null, 2)
  }),
  junit: atEnd(junit),
  sarif: atEnd((url, results) => JSON.stringify(sarif(url, results, version()), null, 2)),
} as const

export type Format = keyof typeof FORMATS
