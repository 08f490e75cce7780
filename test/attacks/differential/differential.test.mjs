import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { compare } from './compare.mjs'
import { mutant, random, readCorpus } from './mutants.mjs'
import { SUBJECTS } from './subjects/index.mjs'

/** The same cases in each run. `npm run fuzz` searches, and `SEED=123 npm run test:only -- differential` tests other cases. */
const SEED = Number(process.env.SEED ?? 19)
const NEW_CASES = 500

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

  it(`has no unknown disagreement in ${NEW_CASES} new cases of the seed ${SEED}`, async () => {
    const property = fc.asyncProperty(subject.cases, async (one) => {
      expect(failed({ one, ...(await compare(subject, one)) })).toEqual([])
    })
    await fc.assert(property, { seed: SEED, numRuns: NEW_CASES })
  })

  it(`has no unknown disagreement in ${NEW_CASES} mutants of the corpus, of the seed ${SEED}`, async () => {
    const r = random(SEED)
    const corpus = readCorpus(subject)
    for (let i = 0; i < NEW_CASES; i++) {
      const one = mutant(subject, r.pick(corpus), r.pick(corpus), r)
      expect(failed({ one, ...(await compare(subject, one)) })).toEqual([])
    }
  })
})

describe('the judgement', () => {
  const subject = {
    stricter: [{ name: 'odd', holds: ({ value }) => value % 2 === 1 }],
    lenient: [{ name: 'large', peers: ['peer'], holds: ({ value }) => value > 100 }],
    isRefusal: (error) => error.message === 'refused',
  }
  const judged = async (value, ours, peer) => {
    const verdict = (text) => (text.startsWith('accepts') ? { accepted: text } : { error: new Error(text) })
    const run = async () => ({ input: { value }, ours: verdict(ours), peers: { peer: verdict(peer) } })
    return (await compare({ ...subject, run }, {})).findings
  }

  it.each([
    ['both accept the same', 2, 'accepts', 'accepts', []],
    ['both refuse', 2, 'refused', 'invalid', []],
    ['a refusal of a class', 1, 'refused', 'accepts', []],
    ['a refusal of no class', 2, 'refused', 'accepts', ['refuses what peer accepts']],
    ['a class that is accepted', 1, 'accepts', 'accepts', ['accepts, although the class "odd" holds']],
    ['a refusal of a peer', 2, 'accepts', 'invalid', ['accepts what peer refuses']],
    ['a known refusal of a peer', 102, 'accepts', 'invalid', []],
    ['other contents', 2, 'accepts a', 'accepts b', ['reads other contents than peer']],
    ['another error than a refusal', 2, 'broken', 'invalid', ['fails with Error: broken']],
  ])('finds %s', async (_, value, ours, peer, findings) => {
    expect(await judged(value, ours, peer)).toEqual(findings)
  })
})

it('the page names each class, with its reason and its reference', () => {
  const page = readFileSync(new URL('../../../docs/evidence/stricter.md', import.meta.url), 'utf8')
  const [, tables] = page.split('## Tokens')
  const rows = [...tables.matchAll(/^\| (?!---|class)(.+?) \| .+ \| .+ \|$/gm)].map(([, name]) => name)
  expect(rows).toEqual(SUBJECTS.flatMap(({ stricter, lenient }) => [...stricter, ...lenient].map(({ name }) => name)))
})
