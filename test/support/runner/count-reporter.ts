import type { Reporter, TestModule } from 'vitest/node'
import { countLine, leaveCounts } from './counts.mjs'

/** Prints the counts of a run as its last line. With REQUIRE_SERVICES, a skipped test fails the run. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (state: string) => states.filter((s) => s === state).length
    const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') + count('pending') }
    if (process.env['REQUIRE_SERVICES'] && counts.skipped > 0) process.exitCode = 1
    const file = process.env['TEST_COUNTS']
    if (file) leaveCounts(file, counts)
    process.on('exit', () => {
      process.stdout.write(`${countLine(counts)}\n`)
    })
  }
}
