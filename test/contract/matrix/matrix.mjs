import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { table } from '../../performance/bench/report/table.mjs'
import { addCounts, countLine, leaveCounts, leftCounts } from '../../support/runner/counts.mjs'
import { readArguments } from './arguments.mjs'
import { installedExpresses, installedNode } from './installed.mjs'

// Runs the tests on several Nodes, with each Express. `npm run test:matrix -- --help` is what `readArguments` says.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

const say = (line) => process.stdout.write(`${line}\n`)

/** Runs the tests on one Node with one Express, and tells how they went: all that they said, if it was not well. */
async function runTests({ node, express, only, counts }) {
  const child = spawn(node.program, [VITEST, 'run', '--config', join(ROOT, 'test/vitest.config.ts'), ...only], {
    cwd: ROOT,
    env: {
      ...process.env,
      // Programs that a test starts as `node` or `npm` also run on this Node.
      PATH: node.path + delimiter + process.env.PATH,
      TEST_EXPRESS: express.folder,
      TEST_COUNTS: counts,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { green: code === 0, output: output + errors }
}

/** The example app is written for the Express that it comes with: its own tests are not about another one. */
const testsOn = (express) => (express.own ? [] : ['--exclude', 'test/example-app/**'])

async function runMatrix({ nodes, consumers }, folder) {
  const expresses = await installedExpresses()
  const rows = []
  async function runRow(node, express) {
    const counts = join(folder, `${node.version} ${express.version}`)
    await writeFile(counts, '')
    const only = consumers ? ['test/contract/packed'] : testsOn(express)
    const { green, output } = await runTests({ node, express, only, counts })
    const row = { node: node.version, express: express.version, green, ...leftCounts(counts) }
    rows.push(row)
    say(`Node ${row.node}, Express ${row.express}: ${green ? countLine(row) : `RED\n${output}`}`)
  }
  for (const version of nodes) {
    const node = await installedNode(version)
    // The consumers run on every Node. Older Express versions run only on the first and the last Node, to save time.
    const isEnd = version === nodes[0] || version === nodes.at(-1)
    const chosen = consumers && !isEnd ? expresses.slice(-1) : expresses
    if (consumers) await Promise.all(chosen.map((express) => runRow(node, express)))
    else for (const express of chosen) await runRow(node, express)
  }
  return rows
}

const folder = await mkdtemp(join(tmpdir(), 'matrix-'))
try {
  const rows = await runMatrix(readArguments(process.argv.slice(2)), folder)
  const cells = rows.map(({ node, express, green, passed, failed, skipped }) => {
    return [node, express, passed, failed, skipped, green ? 'green' : 'RED']
  })
  say(`\n${table(['Node', 'Express', 'passed', 'failed', 'skipped', ''], cells)}\n`)
  if (rows.some(({ green }) => !green)) process.exitCode = 1

  const file = process.env.TEST_COUNTS
  if (file) leaveCounts(file, addCounts(rows))
  say(countLine(file ? leftCounts(file) : addCounts(rows)))
} finally {
  await rm(folder, { recursive: true, force: true })
}
