import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Exhibit, run } from './exhibit.js'
import { EXHIBITS, HALLS } from './exhibits/index.js'
import { NO_PACKAGES } from './packages.js'

const PAGE = fileURLToPath(new URL('../../../docs/evidence/published-attacks.md', import.meta.url))
const { dependencies } = JSON.parse(readFileSync(new URL('packages/package.json', import.meta.url), 'utf8'))

// An exhibit may move the clock between two requests.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const title = ({ id, project }: Exhibit) => `${id} ${project}`

describe.each(Object.entries(HALLS))('%s', (_hall, exhibits) => {
  describe.each(exhibits.map((exhibit): [string, Exhibit] => [title(exhibit), exhibit]))('%s', (_title, exhibit) => {
    const { faulty, ours, installed, typ, refusal, together } = exhibit

    it.skipIf(installed && NO_PACKAGES)('passes the faulty guard, and so does a valid request', async () => {
      expect(await run(exhibit, faulty(), { typ })).toBe('admitted')
      expect(await run(exhibit, faulty(), { part: 'control', typ })).toBe('admitted')
    })

    it('is refused by ours for the right reason, and a valid request is admitted', async () => {
      const { guard, refusals } = await ours()
      expect(await run(exhibit, guard, { part: 'control' })).toBe('admitted')
      expect(refusals).toEqual([])
      expect(await run(exhibit, guard)).toBe('refused')
      if (together) expect(refusals).toContain(refusal)
      else expect(refusals.at(-1)).toBe(refusal)
    })
  })
})

describe('the runner', () => {
  it.each(['admitted', 'refused'] as const)('returns what a guard says that always says %s', async (verdict) => {
    for (const exhibit of EXHIBITS) {
      expect(await run(exhibit, () => verdict)).toBe(verdict)
      expect(await run(exhibit, () => verdict, { part: 'control' })).toBe(verdict)
    }
  })
})

describe('the catalogue', () => {
  it('has at least 40 exhibits, of which at least 15 run on a vulnerable version', () => {
    expect(EXHIBITS.length).toBeGreaterThanOrEqual(40)
    expect(EXHIBITS.filter(({ installed }) => installed).length).toBeGreaterThanOrEqual(15)
  })

  it('has one exhibit for each id', () => {
    expect(EXHIBITS.map(({ id }) => id)).toEqual([...new Set(EXHIBITS.map(({ id }) => id))])
  })

  it.each(EXHIBITS.map((exhibit): [string, Exhibit] => [title(exhibit), exhibit]))(
    'names the source of %s',
    (_, exhibit) => {
      const { id, year, source } = exhibit
      expect(id).toMatch(/^(CVE-\d{4}-\d{4,}|GHSA(-[23456789cfghjmpqrvwx]{4}){3})$/)
      expect(year).toBeGreaterThanOrEqual(2015)
      const [, assigned] = /^CVE-(\d{4})/.exec(id) ?? []
      if (assigned) expect([Number(assigned), Number(assigned) + 1]).toContain(year)
      expect(source).toMatch(/^https:\/\/\S+$/)
      if (!source.includes('GHSA-') && source.includes('CVE-')) expect(source).toContain(id)
    },
  )

  it('installs each vulnerable version under its own name, and nothing else', () => {
    const used = EXHIBITS.flatMap(({ installed }) => installed ?? [])
    expect(Object.keys(dependencies)).toEqual([...new Set(used)].sort())
    for (const [alias, spec] of Object.entries(dependencies)) {
      const at = alias.lastIndexOf('-')
      expect(spec).toBe(`npm:${alias.slice(0, at)}@${alias.slice(at + 1)}`)
    }
  })
})

// To write the tables anew, run: npm run test:only -- test/attacks/museum/museum.test.ts -u
it('docs/evidence/published-attacks.md lists each exhibit', async () => {
  const introduction = readFileSync(PAGE, 'utf8').replace(/\n## Exhibits\n.*/s, '')
  const tables = Object.entries(HALLS).flatMap(([hall, exhibits]) => [
    '',
    `### ${hall}`,
    '',
    '| id | year | project, versions | fault | runs on |',
    '|---|---|---|---|---|',
    ...exhibits.map(({ id, source, year, project, versions, fault, installed }) => {
      const version = installed?.replace(/-(?=[\d.]+$)/, '@')
      return `| [${id}](${source}) | ${year} | ${project} ${versions} | ${fault} | ${version ? `\`${version}\`` : 'a model'} |`
    }),
  ])
  const real = EXHIBITS.filter(({ installed }) => installed).length
  const counts = `${EXHIBITS.length} attacks. ${real} of them run on the version that had the fault.`
  await expect([introduction, '## Exhibits', '', counts, ...tables, ''].join('\n')).toMatchFileSnapshot(PAGE)
})
