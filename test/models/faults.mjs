// Plants each fault of faults/planted.mjs in a copy of src, and expects that its model fails: npm run models:faults [-- text of a fault]
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FAULTS } from './faults/planted.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['package.json', 'tsconfig.json', 'src', 'test/models', 'test/support', 'test/vitest.config.ts']

const [wanted = ''] = process.argv.slice(2)
const chosen = FAULTS.filter(({ what, model }) => `${model}: ${what}`.includes(wanted))
const copy = mkdtempSync(join(tmpdir(), 'models-'))
const say = (text) => process.stdout.write(`${text}\n`)

/** Runs a model in the copy. Returns the broken promise, or undefined when the model passes. */
function failureOf(model) {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--config', 'test/vitest.config.ts', '--no-color', `test/models/${model}.model.test.ts`]
  const env = { ...process.env, MODEL_FAULT: '1' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8' })
  if (status === 0) return undefined
  const output = stdout + stderr
  if (!/Property failed|AssertionError/.test(output)) throw new Error(`the model did not run:\n${output}`)
  const found = [/\+ {3}"(.+)",/, /AssertionError: (.+)/, /Caused by: (.+)/].map((part) => part.exec(output)?.[1])
  return found.find(Boolean) ?? 'failed'
}

let missed = 0
try {
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  for (const model of new Set(chosen.map(({ model }) => model))) {
    const failure = failureOf(model)
    if (failure) throw new Error(`the model ${model} fails without a fault: ${failure}`)
  }
  for (const { what, model, file, from, to } of chosen) {
    const path = join(copy, 'src', file)
    const text = readFileSync(path, 'utf8')
    if (text.split(from).length !== 2) throw new Error(`${file} must hold this text once: ${from}`)
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
    const failure = failureOf(model)
    writeFileSync(path, text)
    if (!failure) missed++
    say(`${failure ? 'found ' : 'MISSED'} ${model}: ${what}${failure ? ` → ${failure}` : ''}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
say(`${chosen.length - missed} of ${chosen.length} planted faults found`)
process.exitCode = missed > 0 ? 1 : 0
