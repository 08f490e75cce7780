import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Exhibit, expectAdmitted, type Ours, run } from './exhibit.js'
import { EXHIBITS, HALLS } from './exhibits/index.js'
import { ISSUER } from './tokens.js'

const { dependencies } = JSON.parse(readFileSync(new URL('packages/package.json', import.meta.url), 'utf8'))

// An exhibit may move the clock between two requests.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Expects that our guard admits a valid request, and refuses the attack of an exhibit for the right reason. */
async function expectRefused(exhibit: Exhibit, { guard, refusals }: Ours, refusal = exhibit.refusal, typ?: string) {
  expect(await run(exhibit, guard, { part: 'control', typ })).toBe('admitted')
  expect(refusals).toEqual([])
  expect(await run(exhibit, guard, { typ })).toBe('refused')
  if (exhibit.together) expect(refusals).toContain(refusal)
  else expect(refusals.at(-1)).toBe(refusal)
}

describe.each(Object.entries(HALLS))('%s', (_hall, hall) => {
  const exhibits = Object.entries(hall)

  it.each(exhibits)(
    '%s is refused by ours for the right reason, and a valid request is admitted',
    async (_id, exhibit) => expectRefused(exhibit, await exhibit.ours()),
  )

  it.each(exhibits.filter(([, { ours }]) => ours.length > 0))(
    '%s is refused by a guard for tokens of identity providers too',
    async (_id, exhibit) => {
      for (const typ of ['at+jwt', 'JWT']) {
        const ours = await exhibit.ours({ accept: 'jwt', audience: ISSUER })
        await expectRefused(exhibit, ours, exhibit.refusalAsJwt ?? exhibit.refusal, typ)
      }
    },
  )
})

// museum.system.test.ts has the exhibits that run on the vulnerable version.
it.each(EXHIBITS.filter(([, { installed }]) => !installed))(
  '%s passes the faulty guard, and so does a valid request',
  (_id, exhibit) => expectAdmitted(exhibit),
)

it('the museum installs each vulnerable version under its own name, and nothing else', () => {
  const used = EXHIBITS.flatMap(([, { installed }]) => installed ?? [])
  expect(Object.keys(dependencies)).toEqual([...new Set(used)].sort())
  for (const [alias, spec] of Object.entries(dependencies)) {
    expect(`npm:${alias.replace(/-(?=[\d.]+$)/, '@')}`).toBe(spec)
  }
})

it('there are at least 40 exhibits, of which at least 15 run on a vulnerable version', () => {
  expect(EXHIBITS.length).toBeGreaterThanOrEqual(40)
  expect(EXHIBITS.filter(([, { installed }]) => installed).length).toBeGreaterThanOrEqual(15)
  expect(new Set(EXHIBITS.map(([id]) => id)).size).toBe(EXHIBITS.length)
})

it.each(EXHIBITS)('%s has its year, its source and its fault', (id, { source, year, fault }) => {
  expect(id).toMatch(/^(CVE-\d{4}-\d{4,}|GHSA(-[23456789cfghjmpqrvwx]{4}){3})$/)
  const [, assigned] = /^CVE-(\d{4})/.exec(id) ?? []
  if (assigned) expect([Number(assigned), Number(assigned) + 1]).toContain(year)
  expect(source).toMatch(/^https:/)
  if (!source.includes('GHSA-') && source.includes('CVE-')) expect(source).toContain(id)
  expect(fault).toMatch(/^.{20,}\.$/)
})
