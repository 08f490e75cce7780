import { describe, expect, it } from 'vitest'
import { check } from '../../../../src/cli/check/check.js'
import type { Command } from '../../../../src/cli/command.js'
import { hash } from '../../../../src/cli/hash/hash.js'
import { keygen } from '../../../../src/cli/keygen/keygen.js'
import { type Page, readPage } from '../../../support/documents/pages.js'
import { ENTRIES, root } from '../../../support/documents/repository.js'

const entries = await Promise.all(ENTRIES.map((name) => import(/* @vite-ignore */ `${root}src/${name}.js`)))
const COMMANDS: readonly Command[] = [keygen, hash, check]

/** Returns the flags and the environment variables of a command, without `--help`. */
const flagsOf = ({ options, details }: Command) =>
  new Set([...Object.keys(options).map((option) => `--${option}`), ...(details.match(/CHECK_[A-Z_]+/g) ?? [])])

const commandLine = readPage('docs/reference/cli.md')

/** Returns what a pattern captures in the first column of a section's tables. */
const inRows = ({ tableIn }: Page, heading: string, pattern = /^`(\w+)`$/) =>
  tableIn(heading).flatMap(([cell = '']) => pattern.exec(cell)?.[1] ?? [])

describe('the pages name each of these, and no other:', () => {
  it('entries of the package', () => {
    const named = readPage('docs/reference/compatibility.md')
      .section('## Module systems')
      .match(/`express-token-endpoint(\/[\w/]+)?`/g)
    const names = ENTRIES.map((name) => `\`express-token-endpoint/${name}\``.replace('/index', ''))
    expect(named?.toSorted()).toEqual(names.toSorted())
  })

  it.each(COMMANDS)('flags and variables of $name', (command) => {
    const named = inRows(commandLine, `## \`${command.name}\``, /^`(--[\w-]+|CHECK_\w+)(?: [^`]+)?`$/)
    expect([...flagsOf(command)]).not.toEqual([])
    expect(named.sort()).toEqual([...flagsOf(command)].sort())
  })
})

describe('the index of functions', () => {
  const index = readPage('docs/README.md')
  const exported = ENTRIES.map((name, i) => [name, Object.keys(entries[i] ?? {})] as const).filter(
    ([, names]) => names.length > 0,
  )

  it.each(exported)('has each function and class of %s, and no other', (entry, names) => {
    const heading = `### \`express-token-endpoint/${entry}\``.replace('/index', '')
    const named = [...index.section(heading).matchAll(/\[`(\w+)`\]\(/g)].map(([, name]) => name)
    expect(named.sort()).toEqual([...names].sort())
  })

  it('links each name to a page that has it', () => {
    const links = [...index.section('## Functions').matchAll(/\[`(\w+)`\]\(([^#)]+)/g)]
    expect(links.length).toBeGreaterThan(35)
    const isThere = ([, name = '', path = '']: string[]) => readPage(`docs/${path}`).text.includes(name)
    expect(links.filter((link) => !isThere(link))).toEqual([])
  })
})
