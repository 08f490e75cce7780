import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTurnQueue } from '../../../src/concurrency/turn-queue.js'
import { GUARDED_REQUESTS, TOKEN_CALLS } from '../../../src/http/request-limits.js'
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
  for (let i = 0; i < 8; i++) expect(waitForTurn('first')).toBeUndefined()
}

/** Waits in the queue. Records the name that continues, or the error. */
async function join(network: string, name: string, order: string[], connection?: object): Promise<void> {
  try {
    await waitForTurn(network, connection)
    order.push(name)
  } catch (error) {
    order.push(`${name}: ${(error as { code?: string }).code}`)
  }
}

describe('a turn of the event loop', () => {
  it('lets eight continue at once, and eight in each later turn of the event loop', async () => {
    fillTurn()
    const order: string[] = []
    for (let i = 0; i < 20; i++) void join('a', `${i}`, order)
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
    await join('a', 'ninth', order)
    for (let i = 0; i < 7; i++) expect(waitForTurn('a')).toBeUndefined()
    expect(order).toEqual(['ninth'])
  })

  it('asks for no turn of the event loop when no request comes', async () => {
    fillTurn()
    const order: string[] = []
    await join('a', 'ninth', order)
    await setImmediate()
    turns.count = 0
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    expect(turns.count).toBe(0)
  })

  it('lets a request of another network continue after one of each flooding network', async () => {
    fillTurn()
    const order: string[] = []
    const flood = ['a', 'b', 'c', 'd']
    const all = flood.flatMap((network) => Array.from({ length: 60 }, () => join(network, 'forged', order)))
    await join('e', 'valid', order)
    expect(order.indexOf('valid')).toBe(4)
    await Promise.all(all)
  })

  it('refuses those of a network above its limit, and none of another', async () => {
    fillTurn()
    const order: string[] = []
    const ask = (count: number, network: string) => Array.from({ length: count }, () => join(network, network, order))
    await Promise.all([...ask(2050, 'greedy'), ...ask(2048, 'modest')])
    expect(tally(order)).toEqual({ greedy: 2048, 'greedy: overloaded': 2, modest: 2048 })
  })

  it('refuses the newest of the network with the most, when all wait that may', async () => {
    fillTurn()
    const order: string[] = []
    const ask = (count: number, network: string) => Array.from({ length: count }, () => join(network, network, order))
    await Promise.all([...ask(2048, 'one'), ...ask(2047, 'two'), ...ask(2, 'three'), ...ask(1, 'two')])
    expect(tally(order)).toEqual({ one: 2047, 'one: overloaded': 1, two: 2047, 'two: overloaded': 1, three: 2 })
  })

  it('refuses the requests of a connection above its limit, and none that wait', async () => {
    waitForTurn = createTurnQueue({ ...TOKEN_CALLS, perConnection: 3 })
    const [greedy, modest] = [{}, {}]
    for (let turn = 0; turn < 2; turn++) {
      fillTurn()
      const order: string[] = []
      const ask = (count: number, connection: object, name: string) =>
        Array.from({ length: count }, () => join('a', name, order, connection))
      await Promise.all([...ask(5, greedy, 'greedy'), ...ask(3, modest, 'modest')])
      expect(tally(order)).toEqual({ greedy: 3, 'greedy: overloaded': 2, modest: 3 })
      await setImmediate()
    }
  })

  it('counts the requests of a connection no more that others have displaced', async () => {
    waitForTurn = createTurnQueue({ total: 3, perNetwork: 3, perConnection: 3 })
    fillTurn()
    const order: string[] = []
    const connection = {}
    const ask = () => [1, 2, 3].map((i) => join('a', `a${i}`, order, connection))
    await Promise.all([...ask(), join('b', 'b', order)])
    expect(order.splice(0)).toEqual(['a3: overloaded', 'a1', 'b', 'a2'])
    await setImmediate()
    fillTurn()
    await Promise.all(ask())
    expect(order).toEqual(['a1', 'a2', 'a3'])
  })
})
