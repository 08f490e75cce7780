import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunnerTestCase } from 'vitest'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type Reporter, type TestSpecification, type Vitest } from 'vitest/node'
import base from '../vitest.config.js'
import { ROOMS } from './rooms.mjs'

const room = ROOMS[process.env['MUTATION_ROOM'] ?? '']

/** Runs the file first that noticed the last mutant, then the fast files, because one test that notices a mutant is enough. */
class FastFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const cost = ({ moduleId }: TestSpecification): number => {
      const last = this.ctx.cache.getFileTestResults(`:${relative(this.ctx.config.root, moduleId)}`)
      return last?.failed ? -1 : (last?.duration ?? 0)
    }
    return files.toSorted((a, b) => cost(a) - cost(b))
  }
}

/** Adds a failed test to a file that fails while it loads. Stryker counts only tests, so it would overlook the file. */
class LoadFailures implements Reporter {
  private vitest!: Vitest

  onInit(vitest: Vitest): void {
    this.vitest = vitest
  }

  onTestRunEnd(): void {
    for (const file of this.vitest.state.getFiles()) {
      if (file.tasks.length > 0 || file.result?.state !== 'fail') continue
      file.tasks.push({ type: 'test', name: 'loads', mode: 'run', file, result: file.result } as RunnerTestCase)
    }
  }
}

const aliases = [base.resolve?.alias ?? []].flat() as { find: string | RegExp; replacement: string }[]

/** The tests of one room, without the projects of the full run, because Stryker starts Vitest once for each mutant. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // Without the stand-in that imports Express at once: most rooms do not need it.
  resolve: { alias: aliases.filter(({ find }) => !String(find).includes('on-first-use')) },
  test: {
    include: room?.tests ?? [],
    execArgv: base.test?.execArgv ?? [],
    pool: 'threads',
    setupFiles: base.test?.setupFiles ?? [],
    sequence: { sequencer: FastFirst },
    reporters: [new LoadFailures()],
    // Many mutants cause a test to wait for ever. The slowest test takes 2 s on an idle machine.
    testTimeout: 10_000,
  },
})
