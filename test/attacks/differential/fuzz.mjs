// Compares this package with its peers on generated and mutated inputs. It runs the built package: npm run fuzz -- --minutes 60
//   --minutes 1       the length of the run
//   --cases N         ends the run after N cases instead
//   --seed N          repeats the cases of a run
//   --subject token   only one kind of input
//   --first           ends the run at the first finding
//   --save            replaces the corpus with the fewest cases that have the same features
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { compare } from './compare.mjs'
import { readCorpus, saveCorpus } from './corpus.mjs'
import { startCoverage } from './coverage.mjs'
import { createPool } from './evolve.mjs'
import { SUBJECTS } from './subjects/index.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    cases: { type: 'string' },
    seed: { type: 'string' },
    subject: { type: 'string' },
    first: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
})
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
const end = values.cases ? Number.POSITIVE_INFINITY : performance.now() + Number(values.minutes) * 60_000
const most = Number(values.cases ?? Number.POSITIVE_INFINITY)
const say = (line) => process.stdout.write(`${line}\n`)

/** V8 takes milliseconds to report its counts, so a batch shares one report. A batch with new blocks runs again, in halves. */
const BATCH = 50

const coverage = startCoverage()
const runs = SUBJECTS.filter(({ name }) => !values.subject || name === values.subject).map((subject) => ({
  subject,
  pool: createPool(subject, seed),
  count: 0,
  accepted: 0,
  mutants: 0,
  traits: {},
}))
const found = new Map()
const isOver = () =>
  (values.first && found.size > 0) || performance.now() > end || runs.reduce((sum, { count }) => sum + count, 0) >= most

async function judge(run, one) {
  run.count++
  let result
  try {
    result = await compare(run.subject, one)
  } catch (error) {
    report(`${run.subject.name}: the comparison fails with ${error.stack}`, one, [])
    return { traits: [] }
  }
  if (result.isAccepted) run.accepted++
  for (const trait of result.traits) run.traits[trait] = (run.traits[trait] ?? 0) + 1
  for (const finding of result.findings) report(`${run.subject.name}: ${finding}`, one, result.traits)
  return result
}

/** Keeps the shortest case of each finding. */
function report(finding, one, traits) {
  const known = found.get(finding)
  const text = JSON.stringify(one)
  if (!known) say(`FOUND ${finding}\n  ${text}\n  ${traits.join('; ')}`)
  if (!known || text.length < known.text.length) found.set(finding, { text, traits, times: (known?.times ?? 0) + 1 })
  else known.times++
}

async function runBatch(run, cases) {
  coverage.take()
  const outcomes = []
  for (const one of cases) outcomes.push(await judge(run, one))
  const blocks = coverage.take()
  for (const [i, one] of cases.entries()) {
    const { traits } = outcomes[i]
    run.pool.add(one, [...traits, traits.join(', ')])
  }
  await findNewBlocks(run, cases, blocks)
}

/** Halves a list of cases until it has found those that ran new blocks. */
async function findNewBlocks(run, cases, blocks) {
  if (!run.pool.isNew(blocks)) return
  if (cases.length === 1) {
    run.pool.add(cases[0], blocks)
    return
  }
  const middle = cases.length >> 1
  for (const half of [cases.slice(0, middle), cases.slice(middle)]) {
    coverage.take()
    for (const one of half) await compare(run.subject, one).catch(() => {})
    await findNewBlocks(run, half, coverage.take())
  }
}

const started = performance.now()
say(`seed ${seed}`)
for (const run of runs) {
  const corpus = readCorpus(run.subject)
  for (let i = 0; i < corpus.length && !isOver(); i += BATCH) await runBatch(run, corpus.slice(i, i + BATCH))
}
let told = started
for (let round = 0; !isOver(); round++) {
  for (const run of runs) {
    if (isOver()) break
    const cases = fc.sample(run.subject.cases, { seed: seed + round, numRuns: BATCH })
    await runBatch(run, cases)
    for (let i = 0; i < 2; i++) {
      const mutants = Array.from({ length: BATCH }, run.pool.next)
      run.mutants += mutants.length
      await runBatch(run, mutants)
    }
  }
  if (performance.now() - told > 60_000) {
    told = performance.now()
    say(
      `${Math.round((told - started) / 60_000)} min: ${runs.map((run) => `${run.subject.name} ${run.count}`).join(', ')}, ${found.size} findings`,
    )
  }
}
const total = runs.reduce((sum, { count }) => sum + count, 0)
say(`${total} cases in ${((performance.now() - started) / 60_000).toFixed(1)} min, seed ${seed}`)
for (const { subject, pool, count, accepted, mutants, traits } of runs) {
  say(`${subject.name}: ${count} cases, ${mutants} of them mutants, ${accepted} accepted, ${pool.size()} features`)
  for (const [trait, times] of Object.entries(traits).sort())
    if (/, (but|and) /.test(trait)) say(`  ${times} × ${trait}`)
  if (values.save && found.size === 0) {
    // Whole outcomes differ in too many ways for a small corpus.
    const entries = pool.entries.map(({ one, features }) => ({
      one,
      features: features.filter((text) => !/^ours: .*, /.test(text)),
    }))
    say(`  saved ${saveCorpus(subject, entries)} cases`)
  }
}
for (const [finding, { text, traits, times }] of found)
  say(`FINDING ${finding}, ${times} times\n  ${text}\n  ${traits.join('; ')}`)
say(found.size === 0 ? 'no findings' : `${found.size} findings`)
process.exit(found.size === 0 ? 0 : 1)
