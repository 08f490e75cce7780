import { ROOMS } from './rooms.mjs'

const room = process.env.MUTATION_ROOM
const stored = `.run/mutation/${room}`

export default {
  mutate: ROOMS[room].mutate,
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // `run.mjs` runs each room twice. The first run skips code that runs only while a module loads, and the second run adds it with every test.
  ignoreStatic: process.env.MUTATION_STATIC !== '1',
  // A stopped run continues at its last complete room. `--force` runs every mutant again.
  incremental: true,
  incrementalFile: `${stored}/incremental.json`,
  tempDirName: `${stored}/sandbox`,
  ignorePatterns: ['/dist', '/example-app', '/coverage', '/.run', '/test/hosts', '/test/performance', '/test/client'],
  concurrency: 1,
  // The timeout stops an endless loop, and the heap's limit stops an endless list.
  timeoutMS: 60_000,
  timeoutFactor: 3,
  testRunnerNodeArgs: ['--max-old-space-size=1024'],
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `${stored}/report.json` },
  warnings: { slow: false },
}
