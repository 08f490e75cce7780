// npm run bench [-- [guard http …] [--rounds 21 | --quick]]

import { say, sayWhere } from '../processes.mjs'
import { readArguments } from './arguments.mjs'
import { attacks, settings } from './parts/attacks.mjs'
import { guard } from './parts/guard.mjs'
import { http } from './parts/http.mjs'
import { keys } from './parts/keys.mjs'
import { memory } from './parts/memory.mjs'
import { size } from './parts/size.mjs'
import { token } from './parts/token.mjs'
import { unknown } from './parts/unknown.mjs'
import { saveResults } from './report/results.mjs'
import { table } from './report/table.mjs'

const PARTS = { guard, http, token, keys, size, memory, unknown, attacks, settings }

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
const results = {}
sayWhere()
say(`medians over ${asked.rounds} interleaved rounds, and the middle half of the rounds in brackets`)

for (const name of asked.parts) {
  const { title, run } = PARTS[name]
  say(`\n## ${title}`)
  const { tables, ...numbers } = await run(asked)
  for (const { heads, rows } of tables) say(`\n${table(heads, rows)}`)
  results[name] = { title, ...numbers }
}

const demands = Object.values(results).flatMap((result) => result.demands ?? [])
if (demands.length > 0) {
  const rows = demands.map(({ demand, measured, holds }) => [
    demand,
    measured,
    holds === undefined ? '' : holds ? 'yes' : 'NO',
  ])
  say(`\n${table(['demand', 'measured', 'holds'], rows)}`)
}
say(`\n${Math.round((performance.now() - started) / 1000)} s`)
if (!asked.quick) say(`written: ${(await saveResults(results, asked)).join(', ')}`)
