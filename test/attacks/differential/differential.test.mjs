import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { compare } from './compare.mjs'
import { mutants, readCorpus } from './mutants.mjs'
import { SUBJECTS } from './subjects/index.mjs'

/** The same cases in each run. `npm run fuzz` searches, and `SEED=123 npm run test:only -- differential` tests other cases. */
const SEED = Number(process.env.SEED ?? 19)
const NEW_CASES = 100

describe.each(SUBJECTS)('$name', (subject) => {
  const outcomes = []

  // One after the other, because the server of a subject holds the current case.
  beforeAll(async () => {
    for (const one of readCorpus(subject)) outcomes.push({ one, ...(await compare(subject, one)) })
  })

  const failed = ({ one, findings, traits }) =>
    findings.length > 0 ? [{ findings, traits, one: JSON.stringify(one) }] : []

  it('has no unknown disagreement in the corpus', () => {
    expect(outcomes.length).toBeGreaterThan(10)
    expect(outcomes.flatMap(failed)).toEqual([])
  })

  it('has cases that this package accepts', () => {
    expect(outcomes.filter(({ isAccepted }) => isAccepted)).not.toEqual([])
  })

  it.each([...subject.stricter, ...subject.lenient])('has a case of the class: $name', ({ name }) => {
    const traits = outcomes.flatMap((outcome) => outcome.traits)
    expect(traits.filter((trait) => trait.startsWith(`${name}, `))).not.toEqual([])
  })

  it.each([
    ['new cases', subject.cases],
    ['mutants of the corpus', mutants(subject, readCorpus(subject))],
  ])(`has no unknown disagreement in ${NEW_CASES} %s, of the seed ${SEED}`, async (_, cases) => {
    const property = fc.asyncProperty(cases, async (one) => {
      expect(failed({ one, ...(await compare(subject, one)) })).toEqual([])
    })
    await fc.assert(property, { seed: SEED, numRuns: NEW_CASES })
  })
})
