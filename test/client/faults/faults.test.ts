// Tests client/{grant,held-token,read,session}.ts client/sign-in/{attempts,retry-delay,sign-in,token-call}.ts

import { beforeAll, describe, expect, it, vi } from 'vitest'
import { runFault } from './fault.js'
import { FAULTS } from './table/index.js'

// A random delay of less than a millisecond has passed before the next call on a busy machine.
beforeAll(() => void vi.spyOn(Math, 'random').mockReturnValue(0.5))

describe.each(Object.entries(FAULTS))('%s', (_group, faults) => {
  // Faults that wait do so side by side.
  const named = (waits: boolean) =>
    faults.filter((fault) => fault.waits === waits).map((fault) => [fault.name, fault] as const)
  it.concurrent.each(named(true))('%s', async (_name, fault) => {
    await expect(runFault(fault)).resolves.toBeUndefined()
  })
  it.each(named(false))('%s', async (_name, fault) => {
    await expect(runFault(fault)).resolves.toBeUndefined()
  })

  it('has no name twice', () => {
    const names = faults.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})
