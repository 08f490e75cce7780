import { describe, expect, it, onTestFinished } from 'vitest'
import { createQueue } from '../../../src/concurrency/queue.js'

const QUEUE = { total: 10, perNetwork: 10 }
const OVERLOADED = { code: 'overloaded', status: 503 }

describe('an item in the queue', () => {
  it('is refused when the last slot is free, because nothing would serve it any more', async () => {
    const queue = createQueue(1, QUEUE)
    const end = await queue.enter()
    const waiting = queue.enter({ admit: () => false })
    end()
    await expect(waiting).rejects.toMatchObject(OVERLOADED)
    expect([queue.active, queue.waiting]).toEqual([0, 0])
  })

  it('is refused when the queue is full, and when it has no time left', async () => {
    const queue = createQueue(1, { total: 0, perNetwork: 1 })
    await expect(queue.enter({ timeout: 0 })).rejects.toMatchObject(OVERLOADED)
    const end = await queue.enter()
    await expect(queue.enter()).rejects.toMatchObject(OVERLOADED)
    expect([queue.active, queue.waiting]).toEqual([1, 0])
    end()
    await expect(queue.enter()).resolves.toBeTypeOf('function')
  })

  it('gets one slot, also when the item before it leaves twice', async () => {
    const queue = createQueue(1, QUEUE)
    const end = await queue.enter()
    const others = [queue.enter(), queue.enter()]
    for (const _ of 'ab') end()
    await others[0]
    expect([queue.active, queue.waiting]).toEqual([1, 1])
  })

  it('reads no option from a polluted prototype', async () => {
    const queue = createQueue(1, QUEUE)
    const polluted = { timeout: -1, signal: AbortSignal.abort(), admit: () => false, network: 'b' }
    Object.assign(Object.prototype, polluted)
    onTestFinished(() => {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
    })
    const end = await queue.enter()
    const next = queue.enter()
    end()
    expect(await next).toBeTypeOf('function')
  })
})
