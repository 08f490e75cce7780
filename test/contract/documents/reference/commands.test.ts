import { describe, expect, it } from 'vitest'
import { check } from '../../../../src/cli/check/check.js'
import type { Command } from '../../../../src/cli/command.js'
import { hash } from '../../../../src/cli/hash/hash.js'
import { keygen } from '../../../../src/cli/keygen/keygen.js'
import { readPage } from '../../../support/documents/pages.js'

const page = readPage('docs/reference/cli.md')

const COMMANDS: readonly Command[] = [keygen, hash, check]

/** Returns the flag or the variable at the start of a cell: `--out` for `` `--out FILE` ``. */
const nameIn = (cell = '') => /^`((?:--[\w-]+|CHECK_\w+))( [^`]+)?`$/.exec(cell)?.[1]

describe('the page on the command line', () => {
  it('has a heading for each command', () => {
    const headings = page.headings.map(({ text }) => text)
    expect(headings).toEqual(expect.arrayContaining(COMMANDS.map(({ name }) => `\`${name}\``)))
  })

  it.each(COMMANDS)('$name: names each flag and variable, and no other', ({ name, options, details }) => {
    const rows = page.tableIn(`## \`${name}\``).flatMap(([cell]) => nameIn(cell) ?? [])
    const flags = Object.keys(options).map((option) => `--${option}`)
    const variables = details.match(/CHECK_[A-Z_]+/g) ?? []
    expect(rows.sort()).toEqual([...new Set([...flags, '--help', ...variables])].sort())
  })
})
