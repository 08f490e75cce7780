import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run on one line that counts its tests; under REQUIRE_SERVICES nothing may be skipped. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    const count = (state: string) => states.filter((s) => s === state).length
    const skipped = count('skipped') + count('pending')
    if (process.env['REQUIRE_SERVICES'] && skipped > 0) process.exitCode = 1
    process.on('exit', () => {
      process.stdout.write(`${count('passed')} passed, ${count('failed')} failed, ${skipped} skipped\n`)
    })
  }
}
