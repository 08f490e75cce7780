import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readPage } from '../../support/documents/pages.js'
import { root } from '../../support/documents/repository.js'

/** The number of requirements in each section of OWASP ASVS 5.0: 6.1 has three, 6.2 has twelve. */
const SECTIONS: Readonly<Record<string, readonly number[]>> = {
  6: [3, 12, 8, 6, 8, 4, 2, 4],
  7: [3, 4, 2, 5, 3, 2],
  9: [3, 4],
}

const REQUIREMENTS = Object.entries(SECTIONS).flatMap(([chapter, counts]) =>
  counts.flatMap((count, section) =>
    Array.from({ length: count }, (_, index) => `${chapter}.${section + 1}.${index + 1}`),
  ),
)

/** Returns the rows of the tables below the second-level headings: a demand, its owner, and where it is met. */
function rowsOf(path: string) {
  const { headings, tableIn } = readPage(path)
  const cells = headings.filter(({ level }) => level === 2).flatMap(({ text }) => tableIn(`## ${text}`))
  return cells.map(([demand = '', owner = '', where = '']) => ({ demand, owner, where }))
}
type Row = ReturnType<typeof rowsOf>[number]

const asvs = rowsOf('test/contract/standards/asvs.md')
const rows = [...rowsOf('test/contract/standards/README.md'), ...asvs]

const demands = (some: readonly Row[]) => some.map(({ demand }) => demand)
const numbers = (some: readonly Row[]) => demands(some).map((demand) => demand.split(' ')[0])
const sourcesIn = (text: string) => [...text.matchAll(/`(src\/[^`]+)`/g)].map(([, path = '']) => path)

/** Returns the tests that a row names: each title after the path of a file, up to the next path. */
function testsIn({ where }: Row): { file: string; title: string }[] {
  const tests: { file: string; title: string }[] = []
  let file = ''
  for (const [, code = '', end = ''] of where.matchAll(/`([^`]+)`([^`]*)/g)) {
    if (/^test\/.*\.test\.ts$/.test(code)) file = code
    else if (file !== '') tests.push({ file, title: code })
    // Titles of one file are separated by commas. Any other text ends the list.
    if (!/^,? ?$/.test(end)) file = ''
  }
  return tests
}

/** Returns whether a file has a test with this title: the first argument of a call that is not a suite. */
function hasTitle({ file, title }: { file: string; title: string }): boolean {
  if (!existsSync(root + file)) return false
  const literal = title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const call = new RegExp(`(?<!\\bdescribe)\\(\\s*(['"\`])${literal}\\1,`)
  return call.test(readFileSync(root + file, 'utf8'))
}

/** Returns whether a row has what its owner needs: sources and tests, a link to a page, or a reason. */
function isComplete(row: Row): boolean {
  const sources = sourcesIn(row.where)
  if (row.owner === 'ours')
    return sources.length > 0 && sources.every((path) => existsSync(root + path)) && testsIn(row).length > 0
  if (row.owner === "the host's") return /\]\([^)]+\)/.test(row.where)
  return row.owner === 'not applicable' && /\w+ \w+ \w+/.test(row.where)
}

describe('the pages on standards', () => {
  it('have each requirement of ASVS V6, V7 and V9 once', () => {
    expect(REQUIREMENTS).toHaveLength(73)
    expect(numbers(asvs)).toEqual(REQUIREMENTS)
  })

  it('have a summary of ASVS that agrees with the rows', () => {
    const { tableIn } = readPage('test/contract/standards/asvs.md')
    const summary = tableIn('# OWASP ASVS 5: V6, V7 and V9').filter(([chapter = '']) => /^V\d$/.test(chapter))
    const expected = Object.keys(SECTIONS).map((chapter) => {
      const of = (owner: string) => asvs.filter((row) => row.demand.startsWith(`${chapter}.`) && row.owner === owner)
      const hosts = numbers(of("the host's")).join(', ') || 'none'
      return [`V${chapter}`, hosts, String(of('ours').length), String(of('not applicable').length)]
    })
    expect(summary).toEqual(expected)
  })

  it('name sources and tests of what is ours, link to a page for the host, and give a reason where nothing applies', () => {
    expect(rows.length).toBeGreaterThan(140)
    expect(demands(rows.filter((row) => !isComplete(row)))).toEqual([])
  })

  it('name only tests that exist, with their titles', () => {
    expect(demands(rows.filter(({ where }) => /`test\/[^`]+`(?! `)/.test(where)))).toEqual([])
    expect(rows.flatMap(testsIn).filter((test) => !hasTitle(test))).toEqual([])
  })
})
