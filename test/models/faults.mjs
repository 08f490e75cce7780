// Plants each fault of faults/planted.mjs in a copy of src, and expects that its model fails: npm run models:faults [-- text of a fault]
import { spawnSync } from 'node:child_process'
import { createCopy } from '../support/plain-js/planted-faults.mjs'
import { FAULTS } from './faults/planted.mjs'

const COPIED = ['package.json', 'tsconfig.json', 'src', 'test/models', 'test/support', 'test/vitest.config.ts']

const [wanted = ''] = process.argv.slice(2)
const chosen = FAULTS.filter(({ what, model }) => `${model}: ${what}`.includes(wanted))
const copy = createCopy(COPIED)
const say = (text) => process.stdout.write(`${text}\n`)

/** Runs a model in the copy. Returns the broken promise, or undefined when the model passes. */
function failureOf(model) {
  const vitest = 'node_modules/vitest/vitest.mjs'
  const args = [vitest, 'run', '--config', 'test/vitest.config.ts', '--no-color', `test/models/${model}.model.test.ts`]
  const env = { ...process.env, MODEL_FAULT: '1' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy.folder, env, encoding: 'utf8' })
  if (status === 0) return undefined
  const output = stdout + stderr
  if (!/Property failed|AssertionError/.test(output)) throw new Error(`the model did not run:\n${output}`)
  const found = [/\+ {3}"(.+)",/, /AssertionError: (.+)/, /Caused by: (.+)/].map((part) => part.exec(output)?.[1])
  return found.find(Boolean) ?? 'failed'
}

let missed = 0
try {
  for (const model of new Set(chosen.map(({ model }) => model))) {
    const failure = failureOf(model)
    if (failure) throw new Error(`the model ${model} fails without a fault: ${failure}`)
  }
  for (const { what, model, ...change } of chosen) {
    const failure = copy.withFault(change, () => failureOf(model))
    if (!failure) missed++
    say(`${failure ? 'found ' : 'MISSED'} ${model}: ${what}${failure ? ` → ${failure}` : ''}`)
  }
} finally {
  copy.remove()
}
say(`${chosen.length - missed} of ${chosen.length} planted faults found`)
process.exitCode = missed > 0 ? 1 : 0
