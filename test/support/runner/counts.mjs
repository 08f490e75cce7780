import { appendFileSync, readFileSync } from 'node:fs'

/** Returns the last line of a test run. */
export const countLine = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`

/** Appends the counts of a run to a file. */
export const leaveCounts = (file, counts) => appendFileSync(file, `${JSON.stringify(counts)}\n`)

/** Returns the sum of all counts in a file. */
export function leftCounts(file) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return addCounts(lines.map((line) => JSON.parse(line)))
}

export function addCounts(all) {
  const sum = (name) => all.reduce((total, counts) => total + counts[name], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}

/** Prints the seconds of each suite and, as the last line, the counts of a run. `npm test` and `npm run test:all` fail when a test is skipped. */
export default class CountReporter {
  onTestRunEnd(modules) {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (state) => states.filter((s) => s === state).length
    const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') + count('pending') }
    const file = process.env['TEST_COUNTS']
    if (file) leaveCounts(file, counts)
    const { TEST_QUICK, REQUIRE_SERVICES } = process.env
    if ((TEST_QUICK || REQUIRE_SERVICES) && counts.skipped > 0) process.exitCode = 1
    process.on('exit', () => {
      process.stdout.write(`${[...secondsOf(modules), countLine(counts)].join('\n')}\n`)
    })
  }
}

/** Returns a line for each project: its name and the seconds of its files, which run at the same time. */
function secondsOf(modules) {
  const seconds = new Map()
  for (const module of modules) {
    const { duration, collectDuration } = module.diagnostic()
    const { name } = module.project
    seconds.set(name, (seconds.get(name) ?? 0) + (duration + collectDuration) / 1000)
  }
  return [...seconds].map(([name, sum]) => `${name}: ${sum.toFixed(0)} s`)
}
