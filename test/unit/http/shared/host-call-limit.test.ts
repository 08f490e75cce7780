import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createHostCallLimit } from '../../../../src/http/shared/host-call-limit.js'
import * as errors from '../../../../src/shared/errors.js'
import { deferred, settled } from '../../../support/concurrency.js'

vi.mock('../../../../src/shared/errors.js', { spy: true })

const LIMITS = { total: 40, perNetwork: 20, perConnection: 10 }
const OVERLOADED = { code: 'overloaded', status: 503 }
const from = (network: string) => ({ network, connection: {} })
const WITHOUT_CONNECTION = { network: 'a', connection: undefined }

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

/** Creates a limit. Returns it with all of its maps. */
function withMaps() {
  const maps: Map<unknown, unknown>[] = []
  class TrackedMap extends Map {
    constructor() {
      super()
      maps.push(this)
    }
  }
  vi.stubGlobal('Map', TrackedMap)
  onTestFinished(() => void vi.unstubAllGlobals())
  const hold = createHostCallLimit(LIMITS)
  vi.unstubAllGlobals()
  return { hold, maps }
}

describe('a place', () => {
  it('leaves nothing in memory when its task has settled', async () => {
    const { hold, maps } = withMaps()
    const { task, end } = tasks()
    const answers = ['a', 'a', 'b'].map((network) => hold(from(network), task))
    expect(maps.map(({ size }) => size)).toEqual([2])
    end()
    expect(await Promise.all(answers)).toEqual(['answer', 'answer', 'answer'])
    await settled()
    expect(maps.map(({ size }) => size)).toEqual([0])
  })

  it.each([
    ['a network', 20, () => from('a')],
    ['requests without a connection', 20, () => WITHOUT_CONNECTION],
  ])('is counted for %s while some tasks settle and others do not', async (_, limit, source) => {
    const hold = createHostCallLimit(LIMITS)
    const [first, second] = [tasks(), tasks()]
    const results: Promise<string>[] = []
    const ask = ({ task }: typeof first) => results.push(hold(source(), task).catch((error) => error.code))
    for (let i = 0; i < limit; i++) ask(i < 5 ? first : second)
    first.end()
    await settled()
    for (let i = 0; i < 10; i++) ask(second)
    second.end()
    const codes = await Promise.all(results)
    expect(codes.filter((code) => code === 'overloaded')).toHaveLength(5)
  })

  it('is counted for a connection while some tasks settle and others do not', async () => {
    const hold = createHostCallLimit(LIMITS)
    const [first, second] = [tasks(), tasks()]
    const source = from('a')
    const ask = ({ task }: typeof first) => hold(source, task).catch((error) => error.code)
    const early = Array.from({ length: 4 }, () => ask(first))
    const late = Array.from({ length: 6 }, () => ask(second))
    first.end()
    expect(await Promise.all(early)).toEqual(Array(4).fill('answer'))
    await settled()
    for (let i = 0; i < 4; i++) late.push(ask(second))
    expect(await ask(second)).toBe('overloaded')
    expect(await Promise.all(late)).toEqual(Array(10).fill('overloaded'))
  })

  it('costs one error, however many requests follow on its connection', async () => {
    const hold = createHostCallLimit(LIMITS)
    const { task } = tasks()
    const greedy = from('a')
    vi.mocked(errors.AuthError).mockClear()
    const refused = Array.from({ length: 50 }, () => hold(greedy, task).catch((error) => error.code))
    expect(await Promise.all(refused)).toEqual(Array(50).fill('overloaded'))
    expect(errors.AuthError).toHaveBeenCalledTimes(50)
  })

  it('is free again, whatever the task ends with', async () => {
    const hold = createHostCallLimit(LIMITS)
    const source = from('a')
    const fails = () => {
      throw new Error('at once')
    }
    for (let i = 0; i < 50; i++) {
      expect(await hold(source, async () => i)).toBe(i)
      await expect(hold(source, () => Promise.reject(new Error('down')))).rejects.toThrow('down')
      await expect(hold(source, fails)).rejects.toThrow('at once')
      await settled()
    }
  })

  it('is held until the task has settled, also after its request got a response', async () => {
    const hold = createHostCallLimit(LIMITS)
    const { task, begun, end } = tasks()
    const greedy = from('a')
    const waiting = Array.from({ length: 10 }, () => hold(greedy, task).catch((error) => error.code))
    for (let i = 0; i < 30; i++) await expect(hold(greedy, task)).rejects.toMatchObject(OVERLOADED)
    expect(await Promise.all(waiting)).toEqual(Array(10).fill('overloaded'))
    expect(begun()).toBe(10)
    end()
    await settled()
    expect(await hold(greedy, task)).toBe('answer')
  })

  it.each([
    ['one network', 20, (_: number) => from('a')],
    ['one network, without connections', 20, (_: number) => WITHOUT_CONNECTION],
    ['all networks', 40, (i: number) => from(`${i}`)],
  ])('is one of a limited number for %s: %i', async (_, limit, of) => {
    const hold = createHostCallLimit(LIMITS)
    const { task, begun, end } = tasks()
    const codes = Promise.all(Array.from({ length: 100 }, (_, i) => hold(of(i), task).catch((error) => error.code)))
    await settled()
    end()
    expect((await codes).filter((code) => code === 'answer')).toHaveLength(limit)
    expect(begun()).toBe(limit)
    await settled()
    expect(await hold(of(0), task)).toBe('answer')
  })

  it('of one network does not take those of another', async () => {
    const hold = createHostCallLimit(LIMITS)
    const { task, end } = tasks()
    for (let i = 0; i < 100; i++) hold(from('greedy'), task).catch(() => {})
    const other = hold(from('other'), task)
    end()
    expect(await other).toBe('answer')
  })

  it('is free for the next task of a request when its first task has settled', async () => {
    const hold = createHostCallLimit(LIMITS)
    const { task, end } = tasks()
    const source = from('a')
    const twice = () => hold(source, task).then(() => hold(source, async () => 'second answer'))
    const fails = () => hold(source, () => task().then(() => Promise.reject(new Error('down')))).catch(twice)
    const answers = [...Array.from({ length: 5 }, twice), ...Array.from({ length: 5 }, fails)]
    end()
    expect(await Promise.all(answers)).toEqual(Array(10).fill('second answer'))
  })

  it('remains for the next network, however many others take all that they get', async () => {
    const hold = createHostCallLimit(LIMITS)
    const { task, end } = tasks()
    const held = ['a', 'b', 'c', 'd'].map((network) => {
      let count = 0
      for (let i = 0; i < 100; i++)
        hold(from(network), task).then(
          () => count++,
          () => {},
        )
      return () => count
    })
    const other = hold(from('other'), task)
    end()
    expect(await other).toBe('answer')
    await settled()
    expect(held.map((count) => count())).toEqual([20, 10, 5, 3])
  })
})
