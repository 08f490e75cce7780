/** Runs Stryker on the rooms that the command names, or on all rooms. `--force` runs every mutant again, and `--report` runs none. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare, countsOf, isTimeout, isUntriedStatic, without } from './report.mjs'
import { ROOMS } from './rooms.mjs'
import { readSurvivors } from './survivors.mjs'

/** The lowest score of a room, in percent. */
const LOWEST = 98

process.chdir(fileURLToPath(new URL('../..', import.meta.url)))
const { values, positionals: rooms } = parseArgs({
  allowPositionals: true,
  options: { force: { type: 'boolean' }, report: { type: 'boolean' } },
})
for (const room of rooms)
  if (!Object.hasOwn(ROOMS, room)) fail(`There is no room "${room}". Pass one of: ${Object.keys(ROOMS).join(', ')}.`)

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function stryker(room, isStatic) {
  const stryker = 'node_modules/@stryker-mutator/core/bin/stryker.js'
  const args = [stryker, 'run', 'test/mutation/stryker.config.mjs', ...(values.force && !isStatic ? ['--force'] : [])]
  const own = { TEST_EXPRESS: 'node_modules/express', MUTATION_ROOM: room, MUTATION_STATIC: isStatic ? '1' : '0' }
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...own } })
  if (status !== 0) fail(`Stryker failed in the room "${room}".`)
}

function forget(room, isForgotten) {
  const path = `.run/mutation/${room}/incremental.json`
  if (!existsSync(path)) return
  writeFileSync(path, JSON.stringify(without(JSON.parse(readFileSync(path, 'utf8')), isForgotten)))
}

let explained = []
try {
  explained = readSurvivors()
} catch (error) {
  fail(error.message)
}
const table = []
const problems = []
for (const room of rooms.length > 0 ? rooms : Object.keys(ROOMS)) {
  const path = `.run/mutation/${room}/report.json`
  if (!values.report) {
    forget(room, isTimeout)
    stryker(room, false)
    forget(room, isUntriedStatic)
    stryker(room, true)
  } else if (!existsSync(path)) {
    table.push({ room, mutants: 'not run' })
    continue
  }
  const report = JSON.parse(readFileSync(path, 'utf8'))
  const counts = countsOf(report)
  const { unexplained, outdated } = compare(report, explained)
  table.push({ room, ...counts, score: Number(counts.score.toFixed(1)) })
  if (counts.score < LOWEST) problems.push(`${room}: a score of ${counts.score.toFixed(1)} % is below ${LOWEST} %.`)
  for (const one of unexplained) problems.push(`Survived without an explanation: ${JSON.stringify(one, null, 2)}`)
  for (const one of outdated) problems.push(`Explained, but does not survive: ${JSON.stringify(one, null, 2)}`)
}
// biome-ignore lint/suspicious/noConsole: the table is the command's output
console.table(table)
if (problems.length > 0) fail(problems.join('\n'))
