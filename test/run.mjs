// npm test            the tests that need only Node and the lock file
// npm run test:all    the rest: models, other programs, other packages, other versions of Node, Bun and Deno
//
// Runs the stages one after the other, and the steps of a stage at once. Prints the seconds of each step. The last line has the counts of all tests. With `TEST_COUNTS`, a
// file, the counts are added to those of earlier runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countLine, leftCounts } from './support/runner/counts.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const VITEST = 'vitest run --config test/vitest.config.ts'
const installed = (folder) => `npm ci --prefix ${folder} --ignore-scripts --no-audit --no-fund`

const STAGES = {
  quick: [
    [
      ['lint', 'npm run --silent lint'],
      ['build', 'npm run --silent build:example'],
      ['types', 'npm run --silent tsc -- -p .'],
    ],
    [['tests', `${VITEST} --coverage --exclude '**/*.{system,model}.test.*'`, { TEST_QUICK: '1' }]],
  ],
  all: [
    [
      ['packages of other hosts', installed('test/hosts')],
      ['vulnerable packages', installed('test/attacks/museum/packages')],
      ['build', 'npm run --silent build:example'],
    ],
    [
      [
        'models, and tests with other programs',
        `${VITEST} .model.test. .system.test. test/example-app/data`,
        { REQUIRE_SERVICES: '1' },
      ],
      ['the packed package on every Node, Bun and Deno', 'node test/contract/matrix/matrix.mjs --consumers'],
    ],
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'counts-'))
const counts = process.env.TEST_COUNTS ?? join(folder, 'counts')
if (!process.env.TEST_COUNTS) writeFileSync(counts, '')
const times = []

/** Returns whether the next stage can begin. */
async function runStep([name, command, env]) {
  const started = performance.now()
  const options = { cwd: ROOT, env: { ...process.env, ...env, TEST_COUNTS: counts }, shell: true, stdio: 'inherit' }
  const [status] = await once(spawn(command, options), 'exit')
  times.push(`${Math.round((performance.now() - started) / 1000)} s  ${name}${status === 0 ? '' : ': FAILED'}`)
  if (status !== 0) process.exitCode = 1
  return status === 0 || command.startsWith(VITEST)
}

for (const stage of STAGES[process.argv[2] ?? 'quick']) {
  const results = await Promise.all(stage.map(runStep))
  if (!results.every(Boolean)) break
}
process.stdout.write(`\n${times.join('\n')}\n${countLine(leftCounts(counts))}\n`)
rmSync(folder, { recursive: true })
