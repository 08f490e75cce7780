import { getEventListeners } from 'node:events'
import { AuthError } from 'express-token-endpoint'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createHashQueue } from '../../../src/passwords/hash-queue.js'
import { deferred, tally } from '../../support/concurrency.js'

/** Creates a task that ends when `finish` is called. */
function task(name: string, started: string[] = []) {
  const { promise, resolve } = deferred<string>()
  const run = () => {
    started.push(name)
    return promise
  }
  return { run, finish: () => resolve(name) }
}

type Limits = Parameters<ReturnType<typeof createHashQueue>['acquire']>[0]

/** A login: waits for a slot and for a thread, runs its task, and leaves. */
async function run<T>(
  queue: ReturnType<typeof createHashQueue>,
  task: () => T | Promise<T>,
  limits?: Limits & { external?: boolean },
): Promise<T> {
  const slot = await queue.acquire(limits)
  try {
    await slot.start()
    return await slot.run(task, limits?.external)
  } finally {
    slot.leave()
  }
}

const turns = async (_?: unknown) => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('the hash queue', () => {
  it('runs as many tasks at a time as it is told, the others in their order', async () => {
    const queue = createHashQueue(2, 10)
    const started: string[] = []
    const tasks = ['a', 'b', 'c', 'd'].map((name) => task(name, started))
    const done = tasks.map((t) => run(queue, t.run))
    await turns()
    expect(started).toEqual(['a', 'b'])
    expect(queue.load()).toEqual({ active: 2, waiting: 2 })
    tasks[1]?.finish()
    expect(await done[1]).toBe('b')
    await turns()
    expect(started).toEqual(['a', 'b', 'c'])
    for (const t of tasks) t.finish()
    expect(await Promise.all(done)).toEqual(['a', 'b', 'c', 'd'])
    expect(queue.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('keeps the slot of a running task when its login leaves twice', async () => {
    const queue = createHashQueue(1, 10)
    const running = task('a')
    const slot = await queue.acquire()
    await slot.start()
    const done = slot.run(running.run)
    slot.leave()
    slot.leave()
    expect(queue.load()).toEqual({ active: 1, waiting: 0 })
    running.finish()
    await turns(await done)
    expect(queue.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('runs the task of a login that has left, without a thread', async () => {
    const queue = createHashQueue(1, 10)
    const slot = await queue.acquire()
    slot.leave()
    await slot.start()
    expect(await slot.run(() => 'done')).toBe('done')
    await turns()
    expect(queue.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('goes on after a task that fails or throws', async () => {
    const queue = createHashQueue(1, 10)
    const failing = run(queue, () => Promise.reject(new Error('one')))
    const throwing = run(queue, () => expect.fail('two'))
    const good = run(queue, () => 'three')
    await expect(failing).rejects.toThrow('one')
    await expect(throwing).rejects.toThrow('two')
    expect(await good).toBe('three')
  })

  it.each([
    [1, 0],
    [1, 3],
    [4, 8],
    [1, 40],
    [2, 128],
  ])('has room for %i that run and %i that wait, and for no more', async (concurrency, length) => {
    const queue = createHashQueue(concurrency, length)
    const from = (i: number) => ({ network: `192.0.2.${i}` })
    const asked = Array.from({ length: concurrency + length }, (_, i) => queue.acquire(from(i)))
    await expect(queue.acquire(from(999))).rejects.toMatchObject({ code: 'overloaded', status: 503 })
    const first = await asked[0]
    first?.leave()
    first?.leave()
    const one = queue.acquire(from(1000))
    await expect(queue.acquire(from(1001))).rejects.toThrow(AuthError)
    for (const slot of [...asked, one]) (await slot).leave()
    expect(queue.load()).toEqual({ active: 0, waiting: 0 })
  })

  describe('between those who wait', () => {
    const SLOTS = 32
    const from = (network: string) => ({ network })

    /** Creates a queue without free slots. `serve` frees the slots one by one and returns their new owners. */
    async function busy(length: number) {
      const queue = createHashQueue(1, length)
      const taken = await Promise.all(Array.from({ length: SLOTS }, () => queue.acquire(from('first'))))
      const served: string[] = []
      const ask = (name: string, limits: Limits) =>
        queue.acquire(limits).then(
          (slot) => {
            served.push(name)
            taken.push(slot)
          },
          (error: AuthError) => void served.push(`${name}: ${error.code}`),
        )
      const serve = async () => {
        for (let slot = taken.shift(); slot; slot = taken.shift()) {
          slot.leave()
          await turns()
        }
        return served
      }
      return { queue, ask, serve }
    }

    it('serves logins without a network in turn with those of clients whose address is unknown', async () => {
      const { ask, serve } = await busy(1000)
      ask('none 0', undefined)
      ask('none 1', {})
      ask('unknown', from('unknown'))
      ask('b', from('b'))
      expect(await serve()).toEqual(['none 0', 'b', 'none 1', 'unknown'])
    })

    it('lets half of the queue be of one network', async () => {
      const { queue, ask, serve } = await busy(SLOTS - 1 + 200)
      for (let i = 0; i < 130; i++) ask('one', from('a'))
      for (let i = 0; i < 70; i++) ask('other', from('b'))
      await turns()
      expect(queue.load().waiting).toBe(SLOTS + 170)
      expect(tally(await serve())).toEqual({ one: 100, 'one: overloaded': 30, other: 70 })
    })

    it('lets a login begin that has room, before another one of its network that has none', async () => {
      const { queue, ask, serve } = await busy(SLOTS - 1 + 200)
      let hasRoom = false
      ask('blocked', { ...from('a'), admit: () => hasRoom })
      ask('free', from('a'))
      const served = await serve()
      expect(served).toEqual(['free', 'blocked: overloaded'])
      hasRoom = true
      expect(queue.load()).toEqual({ active: 0, waiting: 0 })
    })
  })

  it('starts a thread once for each slot, and frees it when the login leaves without a task', async () => {
    const queue = createHashQueue(1, 10)
    const slot = await queue.acquire()
    await slot.start()
    await slot.start()
    expect(queue.load()).toEqual({ active: 1, waiting: 0 })
    const next = await queue.acquire()
    const started = next.start()
    slot.leave()
    slot.leave()
    await started
    expect(queue.load()).toEqual({ active: 1, waiting: 0 })
    next.leave()
    expect(queue.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('frees every thread of a slot that was used twice at once, or left while it waited for a thread', async () => {
    const queue = createHashQueue(2, 10)
    const slot = await queue.acquire()
    await Promise.all([slot.start(), slot.start()])
    slot.leave()
    expect(queue.load()).toEqual({ active: 0, waiting: 0 })
    const [first, second, left] = await Promise.all([queue.acquire(), queue.acquire(), queue.acquire()])
    await Promise.all([first.start(), second.start()])
    const started = left.start()
    left.leave()
    first.leave()
    await started
    second.leave()
    expect(queue.load()).toEqual({ active: 0, waiting: 0 })
  })

  describe('with logins that may not begin yet', () => {
    /** Creates a queue, and logins that begin when `rooms` says so, or fail with its error. */
    function admitting() {
      const queue = createHashQueue(1, 100)
      const rooms = new Map<string, boolean | Error>()
      const outcomes: string[] = []
      const ask = async (name: string, room: boolean | Error = false) => {
        if (!rooms.has(name)) rooms.set(name, room)
        const admit = () => {
          const room = rooms.get(name)
          if (room instanceof Error) throw room
          return room === true
        }
        try {
          const slot = await queue.acquire({ network: name, admit })
          outcomes.push(name)
          return slot
        } catch (error) {
          outcomes.push(`${name}: ${(error as AuthError).code ?? error}`)
          return undefined
        }
      }
      return { queue, rooms, outcomes, ask }
    }

    it('lets them wait for as long as the queue has room, also while slots are free', async () => {
      const queue = createHashQueue(4, 8)
      const ask = (network: number, admit = () => false) =>
        queue.acquire({ network: `${network}`, admit }).catch((error) => error.code)
      await ask(0, () => true)
      const waiting = Array.from({ length: 11 }, (_, i) => ask(i))
      const settled = turns().then(() => 'settled')
      expect(await ask(99)).toBe('overloaded')
      expect(queue.load()).toEqual({ active: 0, waiting: 12 })
      expect(await Promise.race([...waiting, settled])).toBe('settled')
    })

    it('lets others begin before them, and takes the next one when one is refused meanwhile', async () => {
      const { queue, rooms, outcomes, ask } = admitting()
      const first = await ask('first', true)
      const waiting = [ask('blocked'), ask('later')]
      const other = await ask('other', true)
      expect(queue.load()).toEqual({ active: 0, waiting: 4 })
      other?.leave()
      await turns()
      expect(outcomes).toEqual(['first', 'other'])
      rooms.set('later', true).set('blocked', new Error('no'))
      first?.leave()
      await Promise.all(waiting)
      expect(outcomes).toEqual(['first', 'other', 'blocked: Error: no', 'later'])
    })

    it('asks them again when a login ends before its task, which keeps its slot', async () => {
      const { rooms, outcomes, ask } = admitting()
      const first = await ask('first', true)
      await first?.start()
      const running = task('hash', [])
      const done = first?.run(running.run)
      const waiting = ask('waiting')
      await turns()
      rooms.set('waiting', true)
      first?.leave()
      await waiting
      expect(outcomes).toEqual(['first', 'waiting'])
      running.finish()
      await done
    })

    it('refuses one that is refused at once, and one that no other login could make room for', async () => {
      const { queue, outcomes, ask } = admitting()
      await ask('refused', new Error('no'))
      await ask('alone')
      expect(outcomes).toEqual(['refused: Error: no', 'alone: overloaded'])
      expect(queue.load()).toEqual({ active: 0, waiting: 0 })
    })
  })

  it('takes out of the queue who has gone, runs nothing for them, and lets a task that runs come to its end', async () => {
    const queue = createHashQueue(1, 10)
    const started: string[] = []
    const [a, b, c] = [task('a', started), task('b', started), task('c', started)]
    const client = new AbortController()
    const { signal } = client
    const first = run(queue, a.run, { signal })
    const gone = run(queue, b.run, { signal })
    const last = run(queue, c.run)
    await turns()
    await turns()
    client.abort()
    await expect(gone).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(queue.load()).toEqual({ active: 1, waiting: 1 })
    a.finish()
    c.finish()
    expect(await Promise.all([first, last])).toEqual(['a', 'c'])
    expect(started).toEqual(['a', 'c'])
  })

  it.each([0, 32])('gives no room to a client that has gone before, with %i slots taken', async (taken) => {
    const queue = createHashQueue(1, 100)
    for (let i = 0; i < taken; i++) await queue.acquire()
    const gone = queue.acquire({ signal: AbortSignal.abort() })
    await expect(gone).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(queue.load()).toEqual({ active: 0, waiting: taken })
  })

  it('leaves nothing at the client’s signal, which lasts as long as its connection', async () => {
    const queue = createHashQueue(1, 10)
    const [first, second] = [task('first'), task('second')]
    const { signal } = new AbortController()
    const both = [run(queue, first.run, { signal }), run(queue, second.run, { signal })]
    await turns()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    first.finish()
    second.finish()
    await Promise.all(both)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  describe('with a time limit', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
    afterEach(() => void vi.useRealTimers())

    it.each([
      [false, 11_999, true, 'keeps its thread until it ends'],
      [false, 12_000, false, 'keeps its thread for at most 12 time limits'],
      [true, 1000, false, 'passes its turn on, when another service does the work'],
    ])('a task that takes too long (external: %s), after %i ms (a thread: %s): %s', async (external, ms, keeps) => {
      const queue = createHashQueue(1, 10)
      const started: string[] = []
      const [hanging, next] = [task('hanging', started), task('next', started)]
      const client = new AbortController()
      const given = run(queue, hanging.run, { signal: client.signal, timeout: 1000, external })
      const failed = expect(given).rejects.toThrow('no result within 1000 ms')
      const done = run(queue, next.run)
      await vi.advanceTimersByTimeAsync(999)
      client.abort()
      await turns()
      expect(queue.load()).toEqual({ active: 1, waiting: 1 })
      await vi.advanceTimersByTimeAsync(1)
      await failed
      await vi.advanceTimersByTimeAsync(ms - 1000)
      expect(started).toEqual(keeps ? ['hanging'] : ['hanging', 'next'])
      expect(queue.load()).toEqual({ active: 1, waiting: keeps ? 1 : 0 })
      hanging.finish()
      await turns()
      expect(started).toEqual(['hanging', 'next'])
      next.finish()
      expect(await done).toBe('next')
      expect(queue.load()).toEqual({ active: 0, waiting: 0 })
      expect(vi.getTimerCount()).toBe(0)
    })

    it('says overloaded to a login that waits too long for a slot', async () => {
      const queue = createHashQueue(1, 1000)
      for (let i = 0; i < 32; i++) await queue.acquire()
      const refused = expect(queue.acquire({ timeout: 1000 })).rejects.toMatchObject({ code: 'overloaded' })
      await vi.advanceTimersByTimeAsync(999)
      expect(queue.load().waiting).toBe(33)
      await vi.advanceTimersByTimeAsync(1)
      await refused
      expect(queue.load().waiting).toBe(32)
    })

    it('counts the time of a task from its own turn', async () => {
      const queue = createHashQueue(1, 10)
      const [first, second] = [task('first'), task('second')]
      const both = [first, second].map(({ run: work }) => run(queue, work, { timeout: 1000 }))
      await vi.advanceTimersByTimeAsync(900)
      first.finish()
      await both[0]
      await turns()
      // Only the time limits of the second task: one for its caller, one for its thread.
      expect(vi.getTimerCount()).toBe(2)
      await vi.advanceTimersByTimeAsync(900)
      second.finish()
      expect(await Promise.all(both)).toEqual(['first', 'second'])
      expect(vi.getTimerCount()).toBe(0)
    })
  })

  it.each([
    ['as many as the cores', '16', 8, 8],
    ['as many as the threads, less one', '4', 16, 3],
    ['four threads unless it is said', '', 16, 3],
    ['four threads where what is said is no number', 'many', 16, 3],
    ['one on one core', '4', 1, 1],
    ['one with one thread', '1', 8, 1],
  ])('hashes %s (UV_THREADPOOL_SIZE=%j, %i cores)', async (_, threads, cores, expected) => {
    vi.stubEnv('UV_THREADPOOL_SIZE', threads)
    vi.doMock('node:os', async (original) => ({ ...(await original<object>()), availableParallelism: () => cores }))
    vi.resetModules()
    onTestFinished(() => {
      vi.doUnmock('node:os')
      vi.resetModules()
      vi.unstubAllEnvs()
    })
    const { defaultConcurrency } = await import('../../../src/passwords/hash-queue.js')
    expect(defaultConcurrency()).toBe(expected)
  })
})
