import { FLOOR, OURS } from '../guards.mjs'
import { start } from '../harness/processes.mjs'
import { atMost, spread } from '../harness/report.mjs'
import { rowsOf } from '../harness/statistics.mjs'

export const title = 'A call of a guard in process, HS256: processor time, and how many times that of requireBearer'

export async function run({ node, rounds }) {
  const { first } = await start('calls.mjs', { args: [3 * rounds], node })
  const rows = rowsOf(first, { base: OURS })
  const [{ ratio }] = rowsOf(first, { base: FLOOR, names: [OURS] })
  return {
    tables: [[['guard', 'µs', 'times'], rows.map((row) => [row.name, spread(row), spread(row.ratio)])]],
    verdicts: [atMost(`${OURS} to ${FLOOR}`, ratio, 2.5)],
  }
}
