// npm run bench [-- guard logins … --node 24 --rounds 7 --write]
//
// A part is a file of `parts` with a `title` and `run({ node, rounds })`: `node` is the path of the measured Node. It returns
// `{ tables, verdicts }`: tables are `[heads, rows]`, and verdicts come from harness/report.mjs.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installedNode } from '../contract/matrix/installed.mjs'
import { stopAll } from './harness/processes.mjs'
import { table } from './harness/report.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const say = (text) => process.stdout.write(`${text}\n`)

const PARTS = 'guard tokens logins enumeration start memory features everything sessions refresh stores floods'.split(
  ' ',
)

/** @throws Error that lists the valid arguments */
function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      node: { type: 'string', default: '24' },
      rounds: { type: 'string', default: '7' },
      write: { type: 'boolean', default: false },
    },
  })
  const unknown = positionals.filter((name) => !PARTS.includes(name))
  if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}. There are ${PARTS.join(', ')}`)
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number, 1 or more')
  const parts = positionals.length > 0 ? positionals : PARTS
  return { ...values, rounds, parts }
}

/** Installs the packages to compare, unless they are installed. */
function installPeers() {
  const [installed, wanted] = [here('peers/node_modules/.package-lock.json'), here('peers/package-lock.json')]
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return
  const args = ['ci', '--prefix', here('peers'), '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) throw new Error('npm could not install the packages to compare')
}

async function runPart(name, asked, node) {
  const started = performance.now()
  try {
    const { title, run } = await import(`./parts/${name}.mjs`)
    const heading = `## ${name}\n\n${title}.`
    say(`\n${heading}`)
    const { tables, verdicts = [] } = await run({ ...asked, node: node.program })
    const targets = verdicts.length > 0 ? [[['expected', 'measured', 'holds'], verdicts]] : []
    const texts = [...tables, ...targets].map(([heads, rows]) => table(heads, rows))
    say(`\n${texts.join('\n\n')}\n\n${Math.round((performance.now() - started) / 1000)} s`)
    if (asked.write) save(name, [heading, ...texts, placeOf(asked, node)].join('\n\n'))
  } catch (error) {
    process.stderr.write(`bench: ${name}: ${error.stack}\n`)
    process.exitCode = 1
  } finally {
    await stopAll()
  }
}

const placeOf = ({ rounds }, { version }) =>
  `Node ${version}, ${availableParallelism()} × ${cpus()[0].model}, ${rounds} rounds, ${new Date().toISOString().slice(0, 10)}.`

const RESULTS = here('results.md')

/** Replaces the section of a part in the results, or adds it. */
function save(name, section) {
  const [head, ...sections] = readFileSync(RESULTS, 'utf8')
    .trimEnd()
    .split(/\n+(?=## )/)
  const nameOf = (text) => /^## (\w+)/.exec(text)[1]
  const kept = sections.filter((text) => nameOf(text) !== name)
  const all = [...kept, section].sort((a, b) => PARTS.indexOf(nameOf(a)) - PARTS.indexOf(nameOf(b)))
  writeFileSync(RESULTS, `${[head, ...all].join('\n\n')}\n`)
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await stopAll()
    process.exit(130)
  })
}

try {
  const asked = readArguments()
  installPeers()
  const isThis = process.versions.node.startsWith(`${asked.node}.`)
  const node = isThis ? { version: process.versions.node, program: process.execPath } : await installedNode(asked.node)
  say(`Node ${node.version}, ${availableParallelism()} cores, load ${loadavg()[0].toFixed(1)}`)
  for (const name of asked.parts) await runPart(name, asked, node)
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`)
  process.exitCode = 1
}
