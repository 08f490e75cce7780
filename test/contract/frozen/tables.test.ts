import { expect, it } from 'vitest'
import {
  type Counts,
  expectTokens,
  expectUse,
  type Left,
  leave,
  leaveTokens,
  shapeOf,
  type Tokens,
} from './journeys.js'
import { BREAKING, freeze, NEWEST, RELEASES, read } from './releases.js'
import { openTables, type Tables } from './stores.js'

interface Frozen {
  left: Left
  counts: Counts
  tables: Tables
}

/** Returns the shapes of rows, in an order that does not depend on random ids. */
const shapesOf = ({ left, counts, tables: { statements, rows } }: Frozen) => {
  const sorted = Object.entries(rows).map(([table, list]) => [
    table,
    list.map((row) => JSON.stringify(shapeOf(row))).sort(),
  ])
  return { left: shapeOf(left), counts: shapeOf(counts), statements, rows: Object.fromEntries(sorted) }
}

it.each(RELEASES)('tables, tokens, cookies, codes, factors and keys of %s work', async (release) => {
  const { left, counts, tables } = read<Frozen>(release, 'tables')
  const { store } = await openTables(tables)
  await expectUse(store, counts, left)
})

it(`this release leaves tables and values of the shapes that ${NEWEST} reads`, async () => {
  const { store, dump } = await openTables()
  const counts: Counts = {}
  const left = await leave(store, counts)
  const made: Frozen = JSON.parse(JSON.stringify({ left, counts, tables: await dump() }))
  freeze('tables', made)
  expect(shapesOf(made), BREAKING).toEqual(shapesOf(read(NEWEST, 'tables')))
})

it.each(RELEASES)('tokens of %s verify, with each algorithm', async (release) => {
  await expectTokens(read<Tokens>(release, 'tokens'))
})

it(`this release issues tokens of the shape that ${NEWEST} verifies`, () => {
  const tokens = leaveTokens()
  freeze('tokens', tokens)
  const shape = (list: Tokens) => list.map(({ alg, token }) => shapeOf({ alg, token }))
  expect(shape(tokens), BREAKING).toEqual(shape(read(NEWEST, 'tokens')))
})
