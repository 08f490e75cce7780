import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'

const source = readFileSync(`${root}src/shared/events.ts`, 'utf8')

/** The members of all events, without docstrings. */
const members = [...source.matchAll(/^ {2}(\w+)\??: (.+[^,])$/gm)].map(([, name = '', type = '']) => ({ name, type }))
const types = members.flatMap(({ name, type }) => (name === 'type' ? [type.replaceAll("'", '')] : []))

const page = readPage('docs/reference/events.md')

describe('the page on events', () => {
  it('has a heading for each type, and no other', () => {
    expect(types.length).toBeGreaterThanOrEqual(6)
    const headings = page.headings.flatMap(({ text }) => /^`([\w.]+)`$/.exec(text)?.[1] ?? [])
    expect(headings.sort()).toEqual(types.sort())
  })

  it('names each member, and no other', () => {
    const rows = page.headings.filter(({ level }) => level === 2).flatMap(({ text }) => page.tableIn(`## ${text}`))
    const named = rows.flatMap(([cell = '']) => /^`(\w+)`$/.exec(cell)?.[1] ?? [])
    expect([...new Set(named)].sort()).toEqual([...new Set(members.map(({ name }) => name))].sort())
  })
})
