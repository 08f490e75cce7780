import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Source } from '../../../src/concurrency/fair-queue.js'
import { createGate } from '../../../src/concurrency/gate.js'
import * as errors from '../../../src/errors/auth-error.js'
import { deferred, settled, withMaps } from '../../support/concurrency.js'

vi.mock('../../../src/errors/auth-error.js', { spy: true })

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

/** Returns the result of a task, or the code of its error. */
const outcome = (promise: Promise<unknown>) => promise.catch((error) => error.code)

describe('an item that waits', () => {
  const QUEUE = { total: 10, perNetwork: 10, perConnection: 10 }

  it('is refused when the last item has left, because nothing would call it any more', async () => {
    const gate = createGate({ total: 1 }, { queue: QUEUE })
    const leave = await gate.enter()
    const waiting = gate.enter({ admit: () => false })
    leave()
    await expect(waiting).rejects.toMatchObject(OVERLOADED)
    expect([gate.inside, gate.waiting]).toEqual([0, 0])
  })

  it('is refused where there is no queue, and when it has no time left', async () => {
    const gate = createGate({ total: 1 })
    await expect(gate.enter({ timeout: 0 })).rejects.toMatchObject(OVERLOADED)
    const leave = await gate.enter()
    await expect(gate.enter()).rejects.toMatchObject(OVERLOADED)
    expect([gate.inside, gate.waiting]).toEqual([1, 0])
    leave()
    await expect(gate.enter()).resolves.toBeTypeOf('function')
  })

  it('reads no option from a polluted prototype', async () => {
    const gate = createGate({ total: 1 }, { queue: QUEUE })
    const polluted = { timeout: -1, signal: AbortSignal.abort(), admit: () => false }
    Object.assign(Object.prototype, polluted)
    onTestFinished(() => {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
    })
    const leave = await gate.enter()
    const next = gate.enter()
    leave()
    expect(await next).toBeTypeOf('function')
  })
})

describe('a place', () => {
  it('leaves nothing in memory when its task has settled', async () => {
    const { made: hold, maps } = withMaps(() => createGate(LIMITS).run)
    const { task, end } = tasks()
    const answers = ['a', 'a', 'b'].map((network) => hold(from(network), task))
    expect(maps.map(({ size }) => size)).toEqual([2])
    end()
    expect(await Promise.all(answers)).toEqual(['answer', 'answer', 'answer'])
    await settled()
    expect(maps.map(({ size }) => size)).toEqual([0])
  })

  const ONE = from('a')
  it.each<[string, number, number, () => Source]>([
    ['a network', 20, 5, () => from('a')],
    ['requests without a connection', 20, 5, () => WITHOUT_CONNECTION],
    ['a connection, whose requests are then all refused', 10, 11, () => ONE],
  ])('is counted for %s while some tasks settle and others do not', async (_, limit, refused, source) => {
    const hold = createGate(LIMITS).run
    const [first, second] = [tasks(), tasks()]
    const ask = (count: number, { task }: typeof first) =>
      Array.from({ length: count }, () => outcome(hold(source(), task)))
    const results = [...ask(5, first), ...ask(limit - 5, second)]
    first.end()
    await settled()
    const later = ask(limit === 10 ? 6 : 10, second)
    second.end()
    const codes = await Promise.all([...results, ...later])
    expect(codes.slice(0, 5)).toEqual(Array(5).fill('answer'))
    expect(codes.filter((code) => code === 'overloaded')).toHaveLength(refused)
  })

  it('costs one error, however many requests follow on its connection', async () => {
    const hold = createGate(LIMITS).run
    const { task } = tasks()
    const greedy = from('a')
    vi.mocked(errors.AuthError).mockClear()
    const refused = Array.from({ length: 50 }, () => outcome(hold(greedy, task)))
    expect(await Promise.all(refused)).toEqual(Array(50).fill('overloaded'))
    expect(errors.AuthError).toHaveBeenCalledTimes(50)
  })

  it('is free for one other item, also when its item leaves twice', async () => {
    const gate = createGate({ total: 2 })
    const [leave] = [await gate.enter(), await gate.enter()]
    for (const _ of 'ab') leave()
    expect(gate.inside).toBe(1)
  })

  it('is free again, whatever the task ends with', async () => {
    const hold = createGate(LIMITS).run
    const source = from('a')
    for (let i = 0; i < 50; i++) {
      expect(await hold(source, async () => i)).toBe(i)
      await expect(hold(source, () => Promise.reject(new Error('down')))).rejects.toThrow('down')
      await expect(hold(source, () => expect.fail('at once'))).rejects.toThrow('at once')
      await settled()
    }
  })

  it('is held until the task has settled, also after its request got a response', async () => {
    const hold = createGate(LIMITS).run
    const { task, begun, end } = tasks()
    const greedy = from('a')
    const waiting = Array.from({ length: 10 }, () => outcome(hold(greedy, task)))
    for (let i = 0; i < 30; i++) await expect(hold(greedy, task)).rejects.toMatchObject(OVERLOADED)
    expect(await Promise.all(waiting)).toEqual(Array(10).fill('overloaded'))
    expect(begun()).toBe(10)
    end()
    await settled()
    expect(await hold(greedy, task)).toBe('answer')
  })

  it('is kept by a task that has asked whether it is wanted, and lost by others of its connection', async () => {
    const hold = createGate(LIMITS).run
    const { promise, resolve } = deferred<void>()
    const [greedy, wanted] = [from('a'), [] as unknown[]]
    const asking = (first: boolean) => async (isWanted: () => boolean) => {
      if (first) wanted.push(isWanted())
      await promise
      wanted.push(isWanted(), isWanted)
      return 'answer'
    }
    const results = Array.from({ length: 11 }, (_, i) => outcome(hold(greedy, asking(i === 0))))
    await settled()
    resolve()
    expect(await Promise.all(results)).toEqual(['answer', ...Array(10).fill('overloaded')])
    await settled()
    const later = wanted.map((one) => (typeof one === 'function' ? 'later' : one))
    expect(later).toEqual([true, true, 'later', ...Array(9).fill([false, 'later']).flat()])
    for (const one of wanted) if (typeof one === 'function') expect(one()).toBe(false)
  })

  it.each([
    ['one network', 20, (_: number) => from('a')],
    ['one network, without connections', 20, (_: number) => WITHOUT_CONNECTION],
    ['all networks', 40, (i: number) => from(`${i}`)],
  ])('is one of a limited number for %s: %i', async (_, limit, of) => {
    const hold = createGate(LIMITS).run
    const { task, begun, end } = tasks()
    const codes = Promise.all(Array.from({ length: 100 }, (_, i) => outcome(hold(of(i), task))))
    await settled()
    end()
    expect((await codes).filter((code) => code === 'answer')).toHaveLength(limit)
    expect(begun()).toBe(limit)
    await settled()
    expect(await hold(of(0), task)).toBe('answer')
  })

  it('is free for the next task of a request when its first task has settled', async () => {
    const hold = createGate(LIMITS).run
    const { task, end } = tasks()
    const source = from('a')
    const twice = () => hold(source, task).then(() => hold(source, async () => 'second answer'))
    const fails = () => hold(source, () => task().then(() => Promise.reject(new Error('down')))).catch(twice)
    const answers = [...Array.from({ length: 5 }, twice), ...Array.from({ length: 5 }, fails)]
    end()
    expect(await Promise.all(answers)).toEqual(Array(10).fill('second answer'))
  })

  it('remains for the next network, however many others take all that they get', async () => {
    const hold = createGate(LIMITS).run
    const { task, end } = tasks()
    const held = ['a', 'b', 'c', 'd'].map((network) =>
      Promise.all(Array.from({ length: 100 }, () => outcome(hold(from(network), task)))),
    )
    const other = hold(from('other'), task)
    end()
    expect(await other).toBe('answer')
    const counts = (await Promise.all(held)).map((codes) => codes.filter((code) => code === 'answer').length)
    expect(counts).toEqual([20, 10, 5, 3])
  })
})
