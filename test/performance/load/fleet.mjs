// Usage: `npm run fleet [-- [load rotation …] [--scale 0.01] [--rounds 15] [--node 24] [--write]]`

import { table } from '../bench/report/table.mjs'
import { say, sayWhere } from '../processes.mjs'
import { readArguments } from './arguments.mjs'
import { isInterrupted, stopAll, stopOnSignals } from './cleanup.mjs'
import { isThisNode, runWithNode } from './other-node.mjs'
import { load } from './parts/load.mjs'
import { million } from './parts/million.mjs'
import { outages } from './parts/outages.mjs'
import { rotation } from './parts/rotation.mjs'
import { scaling } from './parts/scaling.mjs'
import { sizing } from './parts/sizing.mjs'
import { saveFigures } from './results.mjs'
import { isWrong, rowOf } from './verdicts.mjs'

const PARTS = { load, rotation, outages, million, scaling, sizing }

function readOrExit() {
  try {
    return readArguments(process.argv.slice(2), Object.keys(PARTS))
  } catch (error) {
    process.stderr.write(`fleet: ${error.message}\n`)
    process.exit(1)
  }
}

async function runPart(name, asked) {
  const { title, run } = PARTS[name]
  const started = performance.now()
  say(`\n## ${name}: ${title}\n`)
  try {
    const { verdicts, figures } = await run(asked)
    say(table(['what', 'measured', 'holds'], verdicts.map(rowOf)))
    if (verdicts.some(isWrong)) process.exitCode = 1
    else if (asked.write && figures) say(`\nwritten: ${(await saveFigures(name, figures, asked)).join(', ')}`)
  } catch (error) {
    // After an interruption, a stopped server is not a failure.
    if (!isInterrupted()) process.stderr.write(`fleet: ${name}: ${error.stack}\n`)
    process.exitCode = 1
  } finally {
    await stopAll()
  }
  say(`\n${Math.round((performance.now() - started) / 1000)} s`)
}

const asked = readOrExit()
if (asked.node && !isThisNode(asked.node)) process.exit(await runWithNode(asked.node))
stopOnSignals()
sayWhere()
for (const name of asked.parts) await runPart(name, asked)
