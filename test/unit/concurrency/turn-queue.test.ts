import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTurnQueue } from '../../../src/concurrency/turn-queue.js'
import { GUARDED_REQUESTS } from '../../../src/http/request-limits.js'
import { tally } from '../../support/concurrency.js'

const turns = vi.hoisted(() => ({ count: 0 }))

vi.mock('node:timers', async (original) => {
  const timers = await original<typeof import('node:timers')>()
  const setImmediate = (run: () => void) => {
    turns.count++
    return timers.setImmediate(run)
  }
  return { ...timers, setImmediate }
})

let waitForTurn: ReturnType<typeof createTurnQueue>
beforeEach(() => {
  waitForTurn = createTurnQueue(GUARDED_REQUESTS)
})

/** Lets eight requests continue, so that the next request has to wait. */
function fillTurn(): void {
  for (let i = 0; i < 8; i++) expect(waitForTurn(() => from('first'))).toBeUndefined()
}

const from = (network: string, connection: object = {}) => ({ network, connection })

/** Waits in the queue. Records the name that continues, or the error. */
async function join(source: ReturnType<typeof from>, name: string, order: string[]): Promise<void> {
  try {
    await waitForTurn(() => source)
    order.push(name)
  } catch (error) {
    order.push(`${name}: ${(error as { code?: string }).code}`)
  }
}

describe('a turn of the event loop', () => {
  it('lets eight continue at once, and eight in each later turn of the event loop', async () => {
    fillTurn()
    const order: string[] = []
    for (let i = 0; i < 20; i++) void join(from('a'), `${i}`, order)
    const counts: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      await Promise.resolve()
      counts.push(order.length)
      await setImmediate()
    }
    expect(counts).toEqual([0, 8, 16, 20])
  })

  it('lets eight continue at once again in the next turn, when none waits', async () => {
    for (let turn = 0; turn < 3; turn++) {
      fillTurn()
      await setImmediate()
    }
    fillTurn()
    const order: string[] = []
    await join(from('a'), 'ninth', order)
    for (let i = 0; i < 7; i++) expect(waitForTurn(() => from('a'))).toBeUndefined()
    expect(order).toEqual(['ninth'])
  })

  it('asks for no turn of the event loop when no request comes', async () => {
    fillTurn()
    const order: string[] = []
    await join(from('a'), 'ninth', order)
    await setImmediate()
    turns.count = 0
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    expect(turns.count).toBe(0)
  })

  it('lets a request of another connection continue after one of each flooding connection', async () => {
    fillTurn()
    const order: string[] = []
    const flood = Array.from({ length: 4 }, () => from('a'))
    const all = flood.flatMap((source) => Array.from({ length: 60 }, () => join(source, 'forged', order)))
    const valid = join(from('a'), 'valid', order)
    await valid
    expect(order.indexOf('valid')).toBe(4)
    await Promise.all(all)
  })

  it('refuses all of a connection that pipelines more than its limit, and none of another', async () => {
    fillTurn()
    const order: string[] = []
    const [greedy, modest] = [from('a'), from('a')]
    const ask = (count: number, source: typeof greedy, name: string) =>
      Array.from({ length: count }, () => join(source, name, order))
    await Promise.all([...ask(129, greedy, 'greedy'), ...ask(128, modest, 'modest')])
    expect(tally(order)).toEqual({ 'greedy: overloaded': 129, modest: 128 })
  })
})
