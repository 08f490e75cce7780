import { describe, expect, it } from 'vitest'
import { createLimit, limitTasks } from '../../../src/concurrency/limit.js'
import { deferred, settled, withMaps } from '../../support/concurrency.js'

const LIMITS = { total: 40, perNetwork: 20 }
const OVERLOADED = { code: 'overloaded', status: 503 }

/** Creates tasks that end on demand, and counts the tasks that have begun. */
function tasks() {
  const { promise, resolve } = deferred<string>()
  let begun = 0
  const task = () => {
    begun++
    return promise
  }
  return { task, begun: () => begun, end: () => resolve('answer') }
}

/** Returns the result of a task, or the code of its error. */
const outcome = (promise: Promise<unknown>) => promise.catch((error) => error.code)

describe('a limit', () => {
  it('has room again for one item when one has ended, also when it ends twice', () => {
    const begin = createLimit({ total: 2 })
    const [end] = [begin(), begin()]
    expect(begin()).toBeUndefined()
    for (const _ of 'ab') end?.()
    expect([begin(), begin()]).toEqual([expect.any(Function), undefined])
  })

  it('counts the items of a network only where it limits them', () => {
    for (const [limits, begun] of [
      [{ total: 8, perNetwork: 3 }, 3],
      [{ total: 8 }, 8],
    ] as const) {
      const begin = createLimit(limits)
      expect(Array.from({ length: 9 }, () => begin('a')).filter(Boolean)).toHaveLength(begun)
    }
  })
})

describe('a task', () => {
  it('leaves nothing in memory when it has settled', async () => {
    const { made: run, maps } = withMaps(() => limitTasks(LIMITS))
    const { task, end } = tasks()
    const answers = ['a', 'a', 'b'].map((network) => run(network, task))
    expect(maps.map(({ size }) => size)).toEqual([2])
    end()
    expect(await Promise.all(answers)).toEqual(['answer', 'answer', 'answer'])
    await settled()
    expect(maps.map(({ size }) => size)).toEqual([0])
  })

  it('counts until it has settled, whatever it ends with', async () => {
    const run = limitTasks({ total: 1 })
    for (let i = 0; i < 5; i++) {
      expect(await run('a', async () => i)).toBe(i)
      await expect(run('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
      await expect(run('a', () => expect.fail('at once'))).rejects.toThrow('at once')
    }
    const { task, end } = tasks()
    const first = run('a', task)
    await expect(run('b', task)).rejects.toMatchObject(OVERLOADED)
    end()
    expect(await first).toBe('answer')
    expect(await run('b', task)).toBe('answer')
  })

  it('gets the error of its own kind when there is no room', async () => {
    const run = limitTasks({ total: 0 }, () => new Error('too many'))
    await expect(run('a', () => 'never')).rejects.toThrow(new Error('too many'))
  })

  it.each([
    ['one network', 20, () => 'a'],
    ['all networks', 40, (i: number) => `${i}`],
  ])('is one of a limited number for %s: %i', async (_, limit, of) => {
    const run = limitTasks(LIMITS)
    const { task, begun, end } = tasks()
    const codes = Promise.all(Array.from({ length: 100 }, (_, i) => outcome(run(of(i), task))))
    await settled()
    end()
    const ended = await codes
    expect(ended.filter((code) => code === 'answer')).toHaveLength(limit)
    expect(ended.filter((code) => code === 'overloaded')).toHaveLength(100 - limit)
    expect(begun()).toBe(limit)
    expect(await run(of(0), task)).toBe('answer')
  })

  it('ends before its result is known, so that the request may run its next task', async () => {
    const run = limitTasks({ total: 1 })
    const { task, end } = tasks()
    const twice = run('a', task).then(() => run('a', async () => 'second answer'))
    end()
    expect(await twice).toBe('second answer')
  })

  it('finds room for the next network, however many others take all that they get', async () => {
    const run = limitTasks(LIMITS)
    const { task, end } = tasks()
    const others = ['a', 'b', 'c', 'd'].map((network) =>
      Promise.all(Array.from({ length: 100 }, () => outcome(run(network, task)))),
    )
    const next = run('other', task)
    end()
    expect(await next).toBe('answer')
    const counts = (await Promise.all(others)).map((codes) => codes.filter((code) => code === 'answer').length)
    expect(counts).toEqual([20, 10, 5, 3])
  })
})
