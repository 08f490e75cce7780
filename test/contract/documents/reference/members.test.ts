import { readFileSync } from 'node:fs'
import * as library from 'express-token-endpoint'
import { describe, expect, it } from 'vitest'
import { check } from '../../../../src/cli/check/check.js'
import type { Command } from '../../../../src/cli/command.js'
import { hash } from '../../../../src/cli/hash/hash.js'
import { keygen } from '../../../../src/cli/keygen/keygen.js'
import * as renamedInClient from '../../../../src/client/renamed.js'
import { REFUSALS } from '../../../../src/errors/codes.js'
import * as renamed from '../../../../src/renamed.js'
import * as renamedStores from '../../../../src/stores/renamed.js'
import * as renamedInTesting from '../../../../src/testing/renamed.js'
import { type Page, readPage } from '../../../support/documents/pages.js'
import { ENTRIES, root } from '../../../support/documents/repository.js'

/** The names of earlier releases. */
const RENAMED = { ...renamed, ...renamedInClient, ...renamedStores, ...renamedInTesting }

const entries = await Promise.all(ENTRIES.map((name) => import(/* @vite-ignore */ `${root}src/${name}.js`)))
const COMMANDS: readonly Command[] = [keygen, hash, check]

const source = (file: string) => readFileSync(`${root}src/${file}`, 'utf8')

/** Returns the members of a union of texts. */
function unionOf(file: string, name: string): string[] {
  const [, union = ''] = new RegExp(`^export type ${name} =([^=]+?)\\n\\n`, 'm').exec(source(file)) ?? []
  return [...union.matchAll(/'(\w+)'/g)].map(([, member = '']) => member)
}

/** Returns the members of the interfaces in a text, without docstrings. */
const membersOf = (text: string) =>
  [...text.matchAll(/^ {2}(\w+)\??: (.+[^,])$/gm)].map(([, name = '', type = '']) => ({ name, type }))

const events = membersOf(source('events/events.ts'))

/** Returns the flags and the environment variables of a command. */
const flagsOf = ({ options, details }: Command) =>
  new Set([
    ...Object.keys(options).map((option) => `--${option}`),
    '--help',
    ...(details.match(/CHECK_[A-Z_]+/g) ?? []),
  ])

const pages = {
  cli: readPage('docs/reference/cli.md'),
  client: readPage('docs/guides/client.md'),
  errors: readPage('docs/reference/errors.md'),
  events: readPage('docs/guides/monitor.md'),
}

/** Returns what a pattern captures in the headings of a page. */
const inHeadings = ({ headings }: Page, pattern: RegExp) =>
  headings.flatMap(({ text }) => pattern.exec(text)?.[1] ?? [])

/** Returns what a pattern captures in the first column of a section's tables. */
const inRows = ({ tableIn }: Page, heading: string, pattern = /^`(\w+)`$/) =>
  tableIn(heading).flatMap(([cell = '']) => pattern.exec(cell)?.[1] ?? [])

const eventSections = pages.events.headings.filter(({ level }) => level === 2).map(({ text }) => `## ${text}`)

describe('the pages name each of these, and no other:', () => {
  it('entries of the package', () => {
    const named = readPage('docs/reference/compatibility.md')
      .section('## Module systems')
      .match(/`express-token-endpoint(\/\w+)?`/g)
    const names = ENTRIES.map((name) => `\`express-token-endpoint/${name}\``.replace('/index', ''))
    expect(named?.toSorted()).toEqual(names.toSorted())
  })

  it.each<[what: string, named: Iterable<string>, members: Iterable<string | undefined>]>([
    [
      'codes of TokenClientError',
      inRows(pages.client, '## Errors'),
      unionOf('client/token-client-error.ts', 'TokenClientErrorCode'),
    ],
    ['AuthErrorCode', inHeadings(pages.errors, /^`(\w+)`$/), Object.keys(REFUSALS)],
    ['LoginRefusal', inRows(pages.errors, '## Login reasons'), unionOf('errors/codes.ts', 'LoginRefusal')],
    ['RefreshRefusal', inRows(pages.errors, '## Refresh reasons'), unionOf('errors/codes.ts', 'RefreshRefusal')],
    ['TokenRefusal', inHeadings(pages.errors, /^Token: `(\w+)`$/), unionOf('errors/codes.ts', 'TokenRefusal')],
    ['Dependency', inRows(pages.errors, '## Dependencies'), unionOf('errors/codes.ts', 'Dependency')],
    [
      'types of events',
      inHeadings(pages.events, /^`([\w.]+)`$/),
      events.flatMap(({ name, type }) => (name === 'type' ? type.replaceAll("'", '') : [])),
    ],
    [
      'members of events',
      new Set(eventSections.flatMap((heading) => inRows(pages.events, heading))),
      new Set(events.map(({ name }) => name)),
    ],
    ...COMMANDS.map((command): [string, string[], Iterable<string>] => [
      `flags and variables of ${command.name}`,
      inRows(pages.cli, `## \`${command.name}\``, /^`(--[\w-]+|CHECK_\w+)(?: [^`]+)?`$/),
      flagsOf(command),
    ]),
  ])('%s', (_what, named, members) => {
    expect([...members]).not.toEqual([])
    expect([...named].sort()).toEqual([...members].sort())
  })
})

describe('the page on errors', () => {
  it('names the status of each code, and says something below each heading', () => {
    for (const code of Object.keys(REFUSALS) as library.AuthErrorCode[]) {
      const { status } = new library.AuthError(code)
      expect(pages.errors.section(`### \`${code}\``), code).toMatch(new RegExp(`\\b${status}\\b`))
    }
    for (const { text } of pages.errors.headings.filter(({ level }) => level === 3))
      expect(pages.errors.section(`### ${text}`), text).toMatch(/\w+ \w+ \w+/)
  })
})

describe('the index of functions', () => {
  const index = readPage('docs/README.md')
  const exported = ENTRIES.map(
    (name, i) => [name, Object.keys(entries[i] ?? {}).filter((key) => !Object.hasOwn(RENAMED, key))] as const,
  ).filter(([, names]) => names.length > 0)

  it.each(exported)('has each function and class of %s, and no other', (entry, names) => {
    const heading = `### \`express-token-endpoint/${entry}\``.replace('/index', '')
    expect(inRows(index, heading, /^\[`(\w+)`\]/).sort()).toEqual([...names].sort())
  })

  it('links each name to a page that has it', () => {
    const links = [...index.section('## Functions').matchAll(/\[`(\w+)`\]\(([^#)]+)/g)]
    expect(links.length).toBeGreaterThan(35)
    const isThere = ([, name = '', path = '']: string[]) => readPage(`docs/${path}`).text.includes(name)
    expect(links.filter((link) => !isThere(link))).toEqual([])
  })
})
