import type { Reporter, TestModule } from 'vitest/node'
import { countLine, leaveCounts } from './counts.mjs'

/** Prints the seconds of each suite and, as the last line, the counts of a run. `npm test` and `npm run test:all` fail when a test is skipped. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (state: string) => states.filter((s) => s === state).length
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
function secondsOf(modules: readonly TestModule[]): string[] {
  const seconds = new Map<string, number>()
  for (const module of modules) {
    const { duration, collectDuration } = module.diagnostic()
    const { name } = module.project
    seconds.set(name, (seconds.get(name) ?? 0) + (duration + collectDuration) / 1000)
  }
  return [...seconds].map(([name, sum]) => `${name}: ${sum.toFixed(0)} s`)
}
