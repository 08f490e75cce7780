import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { table } from '../../performance/harness/report.mjs'
import { addCounts, countLine, leaveCounts, leftCounts } from '../../support/runner/counts.mjs'
import { installedExpresses, installedNode, installedRuntime, packedTarball } from './installed.mjs'

// Runs the tests on several Nodes, with each Express, and the packed consumers on Bun and Deno.

/** The default: the oldest Node that `engines` allows, the newest of each later line, and the other runtimes. */
const ALL = ['20.19.0', '22', '24', '26', 'bun', 'deno']
const { values, positionals } = parseArgs({ allowPositionals: true, options: { consumers: { type: 'boolean' } } })
const words = positionals.length > 0 ? positionals : ALL
const isRuntime = (word) => word === 'bun' || word === 'deno'
const asked = {
  nodes: words.filter((word) => !isRuntime(word)),
  runtimes: words.filter(isRuntime),
  consumers: values.consumers,
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

const say = (line) => process.stdout.write(`${line}\n`)

/** Runs Vitest with one Express, on one Node or on this Node for another runtime. */
async function runTests({ node = process.execPath, env, only }) {
  const child = spawn(node, [VITEST, 'run', '--config', join(ROOT, 'test/vitest.config.ts'), ...only], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { green: code === 0, output: output + errors }
}

/** The example app is written for the Express that it comes with: its own tests are not about another one. */
const testsOn = (express) => (express.own ? [] : ['--exclude', 'test/example-app/**'])

async function runMatrix({ nodes, runtimes, consumers }, folder) {
  const [tarball, expresses, installedNodes, installedRuntimes] = await Promise.all([
    packedTarball(folder),
    installedExpresses(),
    Promise.all(nodes.map(installedNode)),
    Promise.all(runtimes.map(installedRuntime)),
  ])
  const rows = []
  async function runRow({ name, version }, express, { node, env, only }) {
    const counts = join(folder, `${name} ${version} ${express.version}`)
    await writeFile(counts, '')
    const started = performance.now()
    const { green, output } = await runTests({
      node,
      env: { ...env, TEST_EXPRESS: express.folder, TEST_COUNTS: counts, TEST_TARBALL: tarball },
      only,
    })
    const seconds = Math.round((performance.now() - started) / 1000)
    const row = { runtime: `${name} ${version}`, express: express.version, green, ...leftCounts(counts) }
    rows.push(row)
    say(`${row.runtime}, Express ${row.express}, ${seconds} s: ${green ? countLine(row) : `RED\n${output}`}`)
  }
  const onNode = (node, express) => () =>
    runRow(node, express, {
      node: node.program,
      // Programs that a test starts as `node` or `npm` also run on this Node.
      env: { PATH: node.path + delimiter + process.env.PATH },
      only: consumers ? ['test/contract/packed'] : testsOn(express),
    })
  const onRuntime = (runtime, express) => () =>
    runRow(runtime, express, { env: { TEST_RUNTIME: JSON.stringify(runtime) }, only: ['--project', 'runtimes'] })

  // The consumers run on every Node. Older Express versions run only on the first Node, to save time.
  const nodeRows = installedNodes.flatMap((node, index) =>
    (consumers && index > 0 ? expresses.slice(-1) : expresses).map((express) => onNode(node, express)),
  )
  const runtimeRows = installedRuntimes.flatMap((runtime) =>
    (consumers ? expresses.slice(-1) : expresses).map((express) => onRuntime(runtime, express)),
  )

  // All tests use every core. A row of consumers uses about one core.
  const waiting = [...nodeRows, ...runtimeRows]
  async function runNext() {
    for (let run = waiting.shift(); run; run = waiting.shift()) await run()
  }
  await Promise.all(Array.from({ length: consumers ? 2 : 1 }, runNext))
  return rows
}

const folder = await mkdtemp(join(tmpdir(), 'matrix-'))
try {
  const rows = await runMatrix(asked, folder)
  const cells = rows.map(({ runtime, express, green, passed, failed, skipped }) => {
    return [runtime, express, passed, failed, skipped, green ? 'green' : 'RED']
  })
  say(`\n${table(['runtime', 'Express', 'passed', 'failed', 'skipped', ''], cells)}\n`)
  if (rows.some(({ green }) => !green)) process.exitCode = 1

  const file = process.env.TEST_COUNTS
  if (file) leaveCounts(file, addCounts(rows))
  say(countLine(file ? leftCounts(file) : addCounts(rows)))
} finally {
  await rm(folder, { recursive: true, force: true })
}
