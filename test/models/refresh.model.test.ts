import { describe, expect, it } from 'vitest'
import { memorySessions } from '../support/sessions.js'
import { counted, honestRun, thiefRun } from './refresh/runs.js'
import { FACTOR, STRICT, search, WORLDS } from './refresh/search.js'

describe('refresh never signs an honest client out', () => {
  it.each(WORLDS)('with %s', { timeout: 600_000 * FACTOR }, async (_, settings, network) => {
    await search((list) => honestRun(list, settings, network, memorySessions()), 80)
    if (process.env['MODEL_STEPS']) process.stdout.write(`${counted.steps} steps\n`)
  })
})

describe('refresh notices a thief', () => {
  it.each([...WORLDS.filter(([, { faults, skew }]) => faults === 0 || skew > 0), STRICT])(
    'with %s',
    { timeout: 600_000 * FACTOR },
    async (_, settings, network) => {
      await search((list) => thiefRun(list.slice(0, 400), settings, network, memorySessions()), 150)
    },
  )
})

// MODEL_TRACE=thief:0:1,2,3 repeats a run of the first world with the decisions that a failure has printed.
if (process.env['MODEL_TRACE']) {
  it('repeats a run', async () => {
    const [kind, world, list = ''] = (process.env['MODEL_TRACE'] ?? '').split(':')
    const [, settings, network] = WORLDS[Number(world)] ?? expect.fail()
    const run = kind === 'thief' ? thiefRun : honestRun
    expect(await run(list.split(',').map(Number), settings, network, memorySessions())).toEqual([])
  })
}
