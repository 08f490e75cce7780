import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { readPage } from '../../../support/documents/pages.js'
import { root } from '../../../support/documents/repository.js'

const source = ts.createSourceFile(
  'events.ts',
  readFileSync(`${root}src/shared/events.ts`, 'utf8'),
  ts.ScriptTarget.Latest,
  true,
)

/** Returns the values of all members called `type`. */
function eventTypes(node: ts.Node = source): string[] {
  const own =
    ts.isPropertySignature(node) && node.name.getText() === 'type'
      ? [...(node.type?.getText().matchAll(/'([\w.]+)'/g) ?? [])].map(([, type = '']) => type)
      : []
  const below: string[] = []
  ts.forEachChild(node, (child) => void below.push(...eventTypes(child)))
  return [...own, ...below]
}

/** Returns the names of all members of all events. */
function memberNames(node: ts.Node = source): string[] {
  const below: string[] = []
  ts.forEachChild(node, (child) => void below.push(...memberNames(child)))
  return [...(ts.isPropertySignature(node) ? [node.name.getText()] : []), ...below]
}

const page = readPage('docs/reference/events.md')

describe('the page on events', () => {
  it('has a heading for each type, and no other', () => {
    const types = new Set(eventTypes())
    expect(types.size).toBeGreaterThanOrEqual(6)
    const headings = page.headings.flatMap(({ text }) => /^`([\w.]+)`$/.exec(text)?.[1] ?? [])
    expect(headings.sort()).toEqual([...types].sort())
  })

  it('names each member, and no other', () => {
    const rows = page.headings.filter(({ level }) => level === 2).flatMap(({ text }) => page.tableIn(`## ${text}`))
    const named = rows.flatMap(([cell = '']) => /^`(\w+)`$/.exec(cell)?.[1] ?? [])
    expect([...new Set(named)].sort()).toEqual([...new Set(memberNames())].sort())
  })
})
