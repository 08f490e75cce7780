import { expect, it, onTestFinished } from 'vitest'
import { runCheck } from '../../../../src/http/guard/check-slots.js'
import { deferred } from '../../../support/concurrency.js'

/** Checks that record their start, and end when the test says so. */
function checks() {
  const started: string[] = []
  const running = new Map<string, () => void>()
  const ask = (owner: object, name: string) =>
    runCheck(owner, () => {
      const { promise, resolve } = deferred<void>()
      started.push(name)
      running.set(name, resolve)
      return promise
    })
  /** Ends a check, and lets the next ones start. */
  async function end(name: string) {
    running.get(name)?.()
    running.delete(name)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  }
  onTestFinished(async () => {
    while (running.size > 0) for (const name of running.keys()) await end(name)
  })
  return { started, running, ask, end }
}

const names = (owner: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${owner} ${from + i}`)

it('runs at most 32 checks of one owner and 64 in total, and the others in the order in which they came', async () => {
  const { started, running, ask, end } = checks()
  const [slow, other, third] = [{}, {}, {}]
  for (let i = 0; i < 40; i++) ask(slow, `slow ${i}`)
  expect(started).toEqual(names('slow', 0, 32))
  for (let i = 0; i < 40; i++) ask(other, `other ${i}`)
  ask(third, 'third 0')
  expect(started.slice(32)).toEqual(names('other', 0, 32))
  for (const name of ['slow 0', 'slow 1', 'slow 2', 'third 0', 'other 0']) await end(name)
  // The owners take turns.
  expect(started.slice(64)).toEqual(['slow 32', 'third 0', 'slow 33', 'slow 34', 'other 32'])
  expect(running.size).toBe(64)
})

it('keeps a check that was removed from starting, and counts one that runs until it ends', async () => {
  const { started, ask, end } = checks()
  const owner = {}
  const removals = Array.from({ length: 35 }, (_, i) => ask(owner, `check ${i}`))
  for (const remove of [removals[0], removals[32], removals[32]]) remove?.()
  expect(started).toHaveLength(32)
  await end('check 0')
  expect(started.slice(32)).toEqual(['check 33'])
  removals[34]?.()
  await end('check 1')
  expect(started).toHaveLength(33)
})

it('keeps the checks of an owner when a check that has ended long ago is removed', async () => {
  const { started, ask, end } = checks()
  const owner = {}
  const removeFirst = ask(owner, 'first')
  await end('first')
  for (let i = 0; i < 33; i++) ask(owner, `check ${i}`)
  removeFirst()
  await end('check 0')
  expect(started.at(-1)).toBe('check 32')
  for (let i = 1; i < 33; i++) await end(`check ${i}`)
  ask(owner, 'next')
  removeFirst()
  await end('next')
  expect(started.at(-1)).toBe('next')
})

it('starts checks that end at once in later turns of the event loop', async () => {
  let ended = 0
  const owner = {}
  for (let i = 0; i < 200; i++) runCheck(owner, async () => void ended++)
  for (let i = 0; i < 1000; i++) await Promise.resolve()
  expect(ended).toBe(32)
  while (ended < 200) {
    const before = ended
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended - before).toBeLessThanOrEqual(32)
  }
})
