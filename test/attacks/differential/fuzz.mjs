// Compares this package with its peers on generated cases, and on mutants of these and the saved ones. It runs the built package:
// npm run fuzz -- --minutes 60
//   --minutes 1       the length of the run
//   --cases N         ends the run after N cases instead
//   --seed N          repeats the cases of a run
//   --subject token   only one kind of input
//   --first           ends the run at the first finding
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { compare } from './compare.mjs'
import { mutants, readCorpus } from './mutants.mjs'
import { SUBJECTS } from './subjects/index.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    cases: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    subject: { type: 'string' },
    first: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const most = Number(values.cases)
const end = most < Infinity ? Infinity : performance.now() + Number(values.minutes) * 60_000
const say = (line) => process.stdout.write(`${line}\n`)

const BATCH = 50
const runs = SUBJECTS.filter(({ name }) => !values.subject || name === values.subject).map((subject) => ({
  subject,
  corpus: readCorpus(subject),
  count: 0,
  accepted: 0,
}))
const found = new Set()
const total = () => runs.reduce((sum, { count }) => sum + count, 0)
const isOver = () => (values.first && found.size > 0) || performance.now() > end || total() >= most

async function judge(run, one) {
  run.count++
  const { findings, traits, isAccepted } = await compare(run.subject, one).catch((error) => ({
    findings: [`the comparison fails with ${error.stack}`],
    traits: [],
  }))
  if (isAccepted) run.accepted++
  for (const finding of findings.map((text) => `${run.subject.name}: ${text}`)) {
    if (!found.has(finding)) say(`FOUND ${finding}\n  ${JSON.stringify(one)}\n  ${traits.join('; ')}`)
    found.add(finding)
  }
}

say(`seed ${seed}`)
for (const run of runs) for (const one of run.corpus) await judge(run, one)
for (let round = 0; !isOver(); round++) {
  for (const run of runs) {
    const cases = fc.sample(run.subject.cases, { seed: seed + round, numRuns: BATCH })
    const changed = mutants(run.subject, [...run.corpus, ...cases])
    cases.push(...fc.sample(changed, { seed: seed + round, numRuns: 2 * BATCH }))
    for (const one of cases) if (!isOver()) await judge(run, one)
  }
}
for (const { subject, count, accepted } of runs) say(`${subject.name}: ${count} cases, ${accepted} of them accepted`)
say(`${total()} cases, seed ${seed}, ${found.size} findings`)
process.exit(found.size === 0 ? 0 : 1)
