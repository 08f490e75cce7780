import type { Probe } from './probe/probe.js'
import { bypassRows } from './rows/bypass.js'
import { environmentRows } from './rows/environments.js'
import { forgedRows } from './rows/forged.js'
import { guardRows } from './rows/guard.js'
import { jwksRows } from './rows/jwks.js'
import { guessingRows, refusalRows } from './rows/refusals.js'
import { requestRows } from './rows/requests.js'
import { stepUpRows } from './rows/step-up.js'
import { tokenRows } from './rows/token.js'
import { tokenResponseRows } from './rows/token-response.js'
import type { Row } from './verdict.js'

/** All rows, in the order of the check. */
export const ROWS: readonly Row<Probe>[] = [
  ...tokenResponseRows,
  ...tokenRows,
  ...refusalRows,
  ...requestRows,
  ...guardRows,
  ...bypassRows,
  ...stepUpRows,
  ...forgedRows,
  ...environmentRows,
  ...jwksRows,
  ...guessingRows,
]
