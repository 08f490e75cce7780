import type { Io } from '../../io.js'
import { version } from '../../version.js'
import { json } from './json.js'
import { junit } from './junit.js'
import type { Report } from './report.js'
import { sarif } from './sarif.js'
import { text } from './text.js'

/** The formats of `--format`. */
export const FORMATS = {
  text,
  json,
  junit,
  sarif: (io: Io) => sarif(io, version()),
} as const satisfies Record<string, (io: Io) => Report>

export type Format = keyof typeof FORMATS
