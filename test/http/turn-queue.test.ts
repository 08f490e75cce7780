import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { GUARDED_REQUESTS } from '../../src/http/require-bearer.js'
import { createPlaces, createTurnQueue } from '../../src/http/turn-queue.js'
import { deferred } from '../hostile/support.js'

const waitForTurn = createTurnQueue(GUARDED_REQUESTS)
const holdPlace = createPlaces(GUARDED_REQUESTS)

const from = (network: string, connection: object = {}) => ({ network, connection })

/** Waits for a turn, and records who continues, or why not. */
async function join(source: ReturnType<typeof from>, name: string, order: string[]): Promise<void> {
  try {
    await waitForTurn(source)
    order.push(name)
  } catch (error) {
    order.push(`${name}: ${(error as { code?: string }).code}`)
  }
}

describe('waitForTurn', () => {
  it('lets eight continue in each turn of the event loop', async () => {
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

  it('lets a request of another connection continue after one of each flooding connection', async () => {
    const order: string[] = []
    const flood = Array.from({ length: 4 }, () => from('a'))
    const all = flood.flatMap((source) => Array.from({ length: 60 }, () => join(source, 'forged', order)))
    const valid = join(from('a'), 'valid', order)
    await valid
    expect(order.indexOf('valid')).toBe(4)
    await Promise.all(all)
  })

  it('lets a request of another network continue after one of the flooding network, whatever its connections', async () => {
    const order: string[] = []
    const all = Array.from({ length: 500 }, () => join(from('a'), 'forged', order))
    await join(from('b'), 'valid', order)
    expect(order.indexOf('valid')).toBe(1)
    await Promise.all(all)
  })

  it('refuses all of a connection that pipelines more than its limit, and none of another', async () => {
    const order: string[] = []
    const [greedy, modest] = [from('a'), from('a')]
    const all = Array.from({ length: 129 }, () => join(greedy, 'greedy', order))
    for (let i = 0; i < 128; i++) all.push(join(modest, 'modest', order))
    await Promise.all(all)
    expect(order.filter((name) => name === 'greedy: overloaded')).toHaveLength(129)
    expect(order.filter((name) => name === 'modest')).toHaveLength(128)
  })

  it('refuses what one network has beyond 2,048', async () => {
    const order: string[] = []
    await Promise.all(Array.from({ length: 3000 }, () => join(from('a'), 'one', order)))
    expect(order.filter((name) => name === 'one')).toHaveLength(2048)
    expect(order.filter((name) => name === 'one: overloaded')).toHaveLength(3000 - 2048)
  })

  it('keeps 4,096 at most, and makes room for a network that has fewer', async () => {
    const order: string[] = []
    const all: Promise<void>[] = []
    for (const network of ['a', 'b', 'c']) {
      for (let i = 0; i < 2048; i++) all.push(join(from(network), network, order))
    }
    all.push(join(from('owner'), 'owner', order))
    await Promise.all(all)
    expect(order.filter((name) => !name.includes(':'))).toHaveLength(4096)
    expect(order).toContain('owner')
  })
})

describe('holdPlace', () => {
  it('gives the place back, whatever the answer is', async () => {
    const source = from('a')
    for (let i = 0; i < 200; i++) {
      expect(await holdPlace(source, async () => i)).toBe(i)
      await expect(holdPlace(source, () => Promise.reject(new Error('down')))).rejects.toThrow('down')
      const fails = () => {
        throw new Error('at once')
      }
      await expect(holdPlace(source, fails)).rejects.toThrow('at once')
    }
  })

  it('asks nothing for what is beyond the limit of a connection, which loses all its places', async () => {
    const { promise, resolve } = deferred<string>()
    const source = from('a')
    let asked = 0
    const question = () => {
      asked++
      return promise
    }
    const waiting = Array.from({ length: 128 }, () => holdPlace(source, question))
    const other = holdPlace(from('a'), question)
    const overloaded = { code: 'overloaded', status: 503 }
    await expect(holdPlace(source, question)).rejects.toMatchObject(overloaded)
    expect(asked).toBe(129)
    for (const one of waiting) await expect(one).rejects.toMatchObject(overloaded)
    resolve('answer')
    expect(await other).toBe('answer')
    expect(await holdPlace(source, question)).toBe('answer')
  })
})
