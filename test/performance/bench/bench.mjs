// npm run bench [-- [guard http …] [--node 24,20] [--rounds 21 | --quick]]
//
// A part has a `title` and `run({ rounds, node, line })`: `node` is the path of the measured Node, and `line` is its line, as '24'.
// It returns `{ tables: [{ heads, rows }], demands: [{ demand, measured, holds? }], rows }`. Tables and demands are text, and a demand
// has the same text on each line. Everything but the tables is written to the results file.

import { installedNode } from '../../contract/matrix/installed.mjs'
import { say, sayWhere } from '../processes.mjs'
import { readArguments } from './arguments.mjs'
import { attacks, settings } from './parts/attacks.mjs'
import { guard } from './parts/guard.mjs'
import { http } from './parts/http.mjs'
import { logins } from './parts/logins.mjs'
import { memory } from './parts/memory.mjs'
import { profile } from './parts/profile.mjs'
import { server } from './parts/server.mjs'
import { start } from './parts/start.mjs'
import { unknown } from './parts/unknown.mjs'
import { saveResults } from './report/results.mjs'
import { table } from './report/table.mjs'

const PARTS = {
  guard,
  http,
  server,
  logins,
  start,
  memory,
  profile,
  unknown,
  attacks,
  settings,
}

function readOrExit() {
  try {
    return readArguments(process.argv.slice(2), Object.keys(PARTS))
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n`)
    process.exit(1)
  }
}

const asked = readOrExit()
const started = performance.now()
sayWhere()

for (const line of asked.lines) {
  const { program: node, version } = await installedNode(line)
  const results = {}
  for (const name of asked.parts) {
    const { title, run } = PARTS[name]
    say(`\n## Node ${version}: ${title}`)
    const { tables, ...numbers } = await run({ rounds: asked.rounds, node, line })
    for (const { heads, rows } of tables) say(`\n${table(heads, rows)}`)
    const demands = numbers.demands.map(({ demand, measured, holds }) => [demand, measured, answer(holds)])
    if (demands.length > 0) say(`\n${table(['demand', 'measured', 'holds'], demands)}`)
    results[name] = { title, ...numbers }
  }
  if (!asked.quick) say(`\nwritten: ${(await saveResults(line, version, results)).join(', ')}`)
}
say(`\n${Math.round((performance.now() - started) / 1000)} s`)

function answer(holds) {
  if (holds === undefined) return ''
  return holds ? 'yes' : 'NO'
}
