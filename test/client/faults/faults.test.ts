import { describe, expect, it } from 'vitest'
import { ours } from './ours.js'
import { runFault } from './run-fault.js'
import { FAULTS } from './table/index.js'

describe.each(Object.entries(FAULTS))('%s', (_, faults) => {
  it.each(faults.map((fault) => [fault.name, fault] as const))('%s', async (_name, fault) => {
    await expect(runFault(fault, ours)).resolves.toBeUndefined()
  })
})

it('there are at least 40 faults, each with its own name', () => {
  const names = Object.values(FAULTS).flatMap((faults) => faults.map(({ name }) => name))
  expect(names.length).toBeGreaterThanOrEqual(40)
  expect(new Set(names).size).toBe(names.length)
})
