// Plants each fault of the tables in a copy of the project, and expects that its command fails:
//   npm run faults [-- models | client | differential | check [part of a title]]
import { spawnSync } from 'node:child_process'
import { assertPlantable, createCopy, readTable, TABLES } from './tables.mjs'

for (const name of TABLES) assertPlantable(name)
const [subject = '', text = ''] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${line}\n`)
const reasonIn = (output, ...patterns) => patterns.map((pattern) => pattern.exec(output)?.[1]).find(Boolean)

/** Each command returns its exit status, its output, and the reason in it why it failed. */
const COMMANDS = {
  vitest(node, file) {
    const args = ['run', '--config', 'test/vitest.config.ts', '--no-color', '--bail', '1', file]
    const { status, output } = node('node_modules/vitest/vitest.mjs', ...args)
    return {
      status,
      output,
      reason: reasonIn(output, /\+ {3}"(.+)",/, /AssertionError: (.+)/, /Caused by: (.+)/, /^\w*Error: (.+)/m),
    }
  },
  fuzz(node, kind) {
    const built = node('src/build.mjs')
    if (built.status !== 0) return built
    const args = ['--first', '--subject', kind, '--cases', '10000', '--seed', '1']
    const { status, output } = node('test/attacks/differential/fuzz.mjs', ...args)
    return { status, output, reason: reasonIn(output, /^FOUND (.*)$/m) }
  },
  check(node, app) {
    const { status, output } = node('test/faults/apps/check.mjs', app)
    return { status, output, reason: reasonIn(output, /^fails: (.+)$/m) }
  },
}

/** A fault after which the command does not run is not found. */
function attempt(run) {
  try {
    return run()
  } catch (error) {
    say(error.message)
  }
}

/** A fault that names rows of `check` must fail these rows, and no other. */
const isFound = (failure, { fails }) => failure && (fails.length === 0 || failure === fails.join(', '))

/** Plants the faults of a table. Returns whether all of them are found. */
function plantAll(name) {
  const faults = readTable(name).filter(({ title }) => title.includes(text))
  const copy = createCopy(['package.json', 'tsconfig.json', 'dist', 'docs', 'src', 'test'])
  function failureOf({ command, argument }) {
    const node = (...args) => {
      // `npm test` runs each model as often as a developer waits for, so a fault gets three times that.
      const env = { MODEL_RUNS: '3', ...process.env, MODEL_FAULT: '1' }
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy.folder, env, encoding: 'utf8' })
      return { status, output: stdout + stderr }
    }
    const { status, output, reason } = COMMANDS[command](node, argument)
    if (status !== 0 && !reason) throw new Error(`${command} ${argument} did not run:\n${output}`)
    return status === 0 ? undefined : reason
  }
  let found = 0
  try {
    // A fuzz without a finding takes a minute, and `differential.test.mjs` proves that there is none.
    const repeatable = faults.filter(({ command }) => command !== 'fuzz')
    for (const fault of new Map(repeatable.map((one) => [one.argument, one])).values()) {
      const failure = failureOf(fault)
      if (failure) throw new Error(`${fault.command} ${fault.argument} fails without a fault: ${failure}`)
    }
    for (const fault of faults) {
      const failure = copy.withFault(fault, () => attempt(() => failureOf(fault)))
      const isThis = isFound(failure, fault)
      if (isThis) found++
      say(`${isThis ? 'found ' : 'MISSED'} ${name}: ${fault.title}${failure ? ` → ${failure}` : ''}`)
    }
  } finally {
    copy.remove()
  }
  say(`${name}: ${found} of ${faults.length} planted faults found`)
  return found === faults.length
}

const results = []
for (const name of TABLES.filter((table) => table.startsWith(subject))) results.push(plantAll(name))
if (results.length === 0) throw new Error(`No table starts with ${subject}`)
process.exitCode = results.every(Boolean) ? 0 : 1
