import { beforeAll, describe, expect, it, vi } from 'vitest'
import { readPage } from '../../support/documents/pages.js'
import { ours } from './ours.js'
import { runFault } from './run-fault.js'
import { FAULTS } from './table/index.js'

// A random delay of less than a millisecond has passed before the next call on a busy machine.
beforeAll(() => void vi.spyOn(Math, 'random').mockReturnValue(0.5))

describe.each(Object.entries(FAULTS))('%s', (_, faults) => {
  // Faults that wait do so side by side.
  const named = (waits: boolean) =>
    faults.filter((fault) => fault.tags.includes('waits') === waits).map((fault) => [fault.name, fault] as const)
  it.concurrent.each(named(true))('%s', async (_name, fault) => {
    await expect(runFault(fault, ours)).resolves.toBeUndefined()
  })
  it.each(named(false))('%s', async (_name, fault) => {
    await expect(runFault(fault, ours)).resolves.toBeUndefined()
  })
})

it('the page about the faults lists each of them, and ours passes all', () => {
  const { text } = readPage('docs/evidence/client-faults.md')
  const rows = [...text.matchAll(/^\| (.+?) \| ✓ \| /gm)].map(([, name]) => name?.toLowerCase())
  const names = Object.values(FAULTS).flatMap((faults) => faults.map(({ name }) => name.toLowerCase()))
  expect(rows.sort()).toEqual(names.sort())
})

it('there are at least 40 faults, each with its own name', () => {
  const names = Object.values(FAULTS).flatMap((faults) => faults.map(({ name }) => name))
  expect(names.length).toBeGreaterThanOrEqual(40)
  expect(new Set(names).size).toBe(names.length)
})
