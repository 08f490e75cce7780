import type { Row } from './row.js'
import { endpointRows } from './rows/endpoints.js'
import { guardRows } from './rows/guard.js'
import { loginRows } from './rows/login.js'
import { refreshRows } from './rows/refresh.js'
import { tokenRows } from './rows/token.js'

/** All rows, in the order of the check. */
export const ROWS: readonly Row[] = Object.entries({
  ...loginRows,
  ...endpointRows,
  ...guardRows,
  ...tokenRows,
  ...refreshRows,
}).map(([id, row]) => ({ id, ...row }))
