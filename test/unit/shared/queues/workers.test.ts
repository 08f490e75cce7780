import { expect, it, vi } from 'vitest'
import { createSharedWorkers, createWorkers } from '../../../../src/shared/queues/workers.js'
import { deferred } from '../../../support/concurrency.js'

/** Tasks that record their start, and end when the test says so. */
function tasks() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const task = (name: string) => () => {
    const { promise, resolve } = deferred<void>()
    started.push(name)
    ends.set(name, resolve)
    return promise
  }
  return { started, task, end: (name: string) => ends.get(name)?.() }
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

it('runs at most its number of tasks, in order, and continues after a failure', async () => {
  const workers = createWorkers(2)
  const all = Array.from({ length: 5 }, () => deferred<void>())
  const started: number[] = []
  for (const [index, task] of all.entries()) {
    workers.run('alice', () => {
      started.push(index)
      return task.promise.catch(() => {})
    })
  }
  expect(started).toEqual([0, 1])
  all[1]?.reject(new Error('down'))
  await vi.waitFor(() => expect(started).toEqual([0, 1, 2]))
  for (const task of all) task.resolve()
  await vi.waitFor(() => expect(started).toEqual([0, 1, 2, 3, 4]))
})

it('tells whether a removed task was waiting, and starts the next task at once when none runs', async () => {
  const workers = createWorkers(1)
  const { started, task, end } = tasks()
  const removeFirst = workers.run('alice', task('first'))
  const removeSecond = workers.run('alice', task('second'))
  expect([removeFirst(), removeSecond(), removeSecond()]).toEqual([false, true, false])
  end('first')
  await turn()
  workers.run('alice', task('third'))
  expect(started).toEqual(['first', 'third'])
  end('third')
  await turn()
  workers.run('alice', task('fourth'))
  expect(started).toEqual(['first', 'third', 'fourth'])
})

it('counts a cancelled task that has begun until it ends', async () => {
  const workers = createSharedWorkers({ total: 4, perOwner: 1 })
  const { started, task, end } = tasks()
  const owner = {}
  const cancel = workers.run(owner, 'alice', task('first'))
  workers.run(owner, 'alice', task('second'))
  cancel()
  await turn()
  expect(started).toEqual(['first'])
  end('first')
  await turn()
  expect(started).toEqual(['first', 'second'])
})

it('lets the callers take turns, however many tasks one of them has', async () => {
  const workers = createWorkers(1)
  const { started, task, end } = tasks()
  for (let i = 0; i < 100; i++) workers.run('flood', task(`flood ${i}`))
  workers.run('alice', task('alice'))
  end('flood 0')
  await turn()
  end('flood 1')
  await turn()
  expect(started).toEqual(['flood 0', 'flood 1', 'alice'])
})

it('lets the event loop turn between two tasks', async () => {
  const workers = createWorkers(1)
  let done = 0
  for (let i = 0; i < 3; i++) {
    workers.run('alice', async () => {
      done++
    })
  }
  for (let i = 0; i < 20; i++) await Promise.resolve()
  expect(done).toBe(1)
  await vi.waitFor(() => expect(done).toBe(3))
})

it('keeps workers free for the other owners', async () => {
  const workers = createSharedWorkers({ total: 4, perOwner: 2 })
  const { started, task, end } = tasks()
  const slow = {}
  for (let i = 0; i < 10; i++) workers.run(slow, 'flood', task(`slow ${i}`))
  workers.run({}, 'alice', task('fast'))
  expect(started).toEqual(['slow 0', 'slow 1', 'fast'])
  end('slow 0')
  await turn()
  expect(started).toEqual(['slow 0', 'slow 1', 'fast', 'slow 2'])
})

it('removes a cancelled task, which waits for its owner or for the others', async () => {
  const workers = createSharedWorkers({ total: 1, perOwner: 1 })
  const { started, task, end } = tasks()
  const owner = {}
  workers.run({}, 'alice', task('first'))
  const waitsForOthers = workers.run(owner, 'alice', task('second'))
  const waitsForOwner = workers.run(owner, 'alice', task('third'))
  workers.run(owner, 'alice', task('fourth'))
  waitsForOwner()
  waitsForOthers()
  end('first')
  await vi.waitFor(() => expect(started).toEqual(['first', 'fourth']))
  waitsForOthers()
  end('fourth')
  workers.run(owner, 'alice', task('fifth'))
  await vi.waitFor(() => expect(started).toEqual(['first', 'fourth', 'fifth']))
})
