import type { Row } from './row.js'
import { bypassRows } from './rows/bypass.js'
import { forgedRows } from './rows/forged.js'
import { guardRows, stepUpRows } from './rows/guard.js'
import { jwksRows } from './rows/jwks.js'
import { refreshRows } from './rows/refresh.js'
import { guessingRows, refusalRows } from './rows/refusals.js'
import { requestRows } from './rows/requests.js'
import { tokenRows } from './rows/token.js'
import { tokenResponseRows } from './rows/token-response.js'

/** All rows, in the order of the check. */
export const ROWS: readonly Row[] = [
  tokenResponseRows,
  tokenRows,
  refusalRows,
  requestRows,
  guardRows,
  bypassRows,
  stepUpRows,
  forgedRows,
  jwksRows,
  refreshRows,
  guessingRows,
].flatMap((rows) => Object.entries(rows).map(([id, row]) => ({ id, ...row })))
