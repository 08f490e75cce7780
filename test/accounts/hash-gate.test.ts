import { getEventListeners } from 'node:events'
import { AuthError } from 'express-token-endpoint'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createGate, defaultConcurrency } from '../../src/accounts/hash-gate.js'

/** A task that is done when it is told so. */
function task(name: string, started: string[]) {
  let finish = () => {}
  const done = new Promise<string>((resolve) => {
    finish = () => resolve(name)
  })
  const run = () => {
    started.push(name)
    return done
  }
  return { run, finish }
}

const turns = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('the hash gate', () => {
  it('runs as many tasks at a time as it is told, the others in their order', async () => {
    const gate = createGate(2, 10)
    const started: string[] = []
    const tasks = ['a', 'b', 'c', 'd'].map((name) => task(name, started))
    const done = tasks.map((t) => gate.enter().run(t.run))
    await turns()
    expect(started).toEqual(['a', 'b'])
    expect(gate.load()).toEqual({ active: 2, waiting: 2 })
    tasks[1]?.finish()
    expect(await done[1]).toBe('b')
    await turns()
    expect(started).toEqual(['a', 'b', 'c'])
    for (const t of tasks) t.finish()
    expect(await Promise.all(done)).toEqual(['a', 'b', 'c', 'd'])
    expect(gate.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('goes on after a task that fails or throws', async () => {
    const gate = createGate(1, 10)
    const failing = gate.enter().run(() => Promise.reject(new Error('one')))
    const throwing = gate.enter().run(() => {
      throw new Error('two')
    })
    const good = gate.enter().run(() => 'three')
    await expect(failing).rejects.toThrow('one')
    await expect(throwing).rejects.toThrow('two')
    expect(await good).toBe('three')
  })

  it.each([
    [1, 0],
    [1, 3],
    [4, 8],
  ])('has places for %i that run and %i that wait, and none for one more', (concurrency, queue) => {
    const gate = createGate(concurrency, queue)
    const places = Array.from({ length: concurrency + queue }, () => gate.enter())
    expect(() => gate.enter()).toThrow(expect.objectContaining({ code: 'overloaded', status: 503 }))
    places[0]?.leave()
    places[0]?.leave()
    gate.enter()
    expect(() => gate.enter()).toThrow(AuthError)
  })

  it('takes out of the queue who has gone, and runs nothing for them', async () => {
    const gate = createGate(1, 10)
    const started: string[] = []
    const [a, b, c] = ['a', 'b', 'c'].map((name) => task(name, started))
    const client = new AbortController()
    const first = gate.enter().run(a?.run as () => Promise<string>)
    const gone = gate.enter().run(b?.run as () => Promise<string>, { gone: client.signal })
    const last = gate.enter().run(c?.run as () => Promise<string>)
    await turns()
    client.abort()
    await expect(gone).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(gate.load()).toEqual({ active: 1, waiting: 1 })
    a?.finish()
    c?.finish()
    expect(await Promise.all([first, last])).toEqual(['a', 'c'])
    expect(started).toEqual(['a', 'c'])
  })

  it('runs nothing for a client that has gone before its turn is asked for', async () => {
    const gate = createGate(1, 10)
    await expect(gate.enter().run(() => 'never', { gone: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'client_closed_request',
    })
    expect(gate.load()).toEqual({ active: 0, waiting: 0 })
  })

  it('lets a task that runs come to its end though its client has gone', async () => {
    const gate = createGate(1, 10)
    const client = new AbortController()
    const running = task('a', [])
    const done = gate.enter().run(running.run, { gone: client.signal })
    await turns()
    client.abort()
    running.finish()
    expect(await done).toBe('a')
  })

  it('leaves nothing at the client’s signal, which lasts as long as its connection', async () => {
    const gate = createGate(1, 10)
    const [first, second] = ['first', 'second'].map((name) => task(name, []))
    const { signal } = new AbortController()
    const running = gate.enter().run(first?.run as () => Promise<string>, { gone: signal })
    const waiting = gate.enter().run(second?.run as () => Promise<string>, { gone: signal })
    await turns()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    first?.finish()
    second?.finish()
    await Promise.all([running, waiting])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  describe('with patience', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
    afterEach(() => void vi.useRealTimers())

    it('keeps the turn of a task whose client has gone, and passes it on when it takes too long', async () => {
      const gate = createGate(1, 10)
      const started: string[] = []
      const [hanging, next] = ['hanging', 'next'].map((name) => task(name, started))
      const client = new AbortController()
      const limits = { gone: client.signal, patience: 1000 }
      const given = gate.enter().run(hanging?.run as () => Promise<string>, limits)
      const failed = expect(given).rejects.toThrow('no answer within 1000 ms')
      const done = gate.enter().run(next?.run as () => Promise<string>)
      await vi.advanceTimersByTimeAsync(999)
      client.abort()
      await turns()
      expect(gate.load()).toEqual({ active: 1, waiting: 1 })
      await vi.advanceTimersByTimeAsync(1)
      await failed
      await turns()
      expect(started).toEqual(['hanging', 'next'])
      hanging?.finish()
      await turns()
      expect(gate.load()).toEqual({ active: 1, waiting: 0 })
      next?.finish()
      expect(await done).toBe('next')
      expect(gate.load()).toEqual({ active: 0, waiting: 0 })
    })

    it('says overloaded to a task whose turn does not come in time, and never runs it', async () => {
      const gate = createGate(1, 10)
      const started: string[] = []
      const [first, late] = ['first', 'late'].map((name) => task(name, started))
      const running = gate.enter().run(first?.run as () => Promise<string>)
      const waiting = gate.enter().run(late?.run as () => Promise<string>, { patience: 1000 })
      const refused = expect(waiting).rejects.toMatchObject({ code: 'overloaded' })
      await vi.advanceTimersByTimeAsync(1000)
      await refused
      expect(gate.load()).toEqual({ active: 1, waiting: 0 })
      first?.finish()
      await running
      expect(started).toEqual(['first'])
    })

    it('counts the time of a task from its own turn', async () => {
      const gate = createGate(1, 10)
      const [first, second] = ['first', 'second'].map((name) => task(name, []))
      const running = gate.enter().run(first?.run as () => Promise<string>, { patience: 1000 })
      const done = gate.enter().run(second?.run as () => Promise<string>, { patience: 1000 })
      await vi.advanceTimersByTimeAsync(900)
      first?.finish()
      await running
      await vi.advanceTimersByTimeAsync(900)
      second?.finish()
      expect(await done).toBe('second')
      expect(vi.getTimerCount()).toBe(0)
    })
  })

  it.each([
    ['1', 1],
    ['2', 1],
    [undefined, undefined],
  ])('leaves a thread and a core free (UV_THREADPOOL_SIZE=%s)', (threads, expected) => {
    const before = process.env['UV_THREADPOOL_SIZE']
    if (threads === undefined) delete process.env['UV_THREADPOOL_SIZE']
    else process.env['UV_THREADPOOL_SIZE'] = threads
    const concurrency = defaultConcurrency()
    if (before === undefined) delete process.env['UV_THREADPOOL_SIZE']
    else process.env['UV_THREADPOOL_SIZE'] = before
    expect(concurrency).toBeGreaterThanOrEqual(1)
    expect(concurrency).toBeLessThanOrEqual(expected ?? 3)
  })

  it.each([
    ['as many as the cores, less one', '16', 8, 7],
    ['as many as the threads, less one', '4', 16, 3],
    ['four threads unless it is said', '', 16, 3],
    ['four threads where what is said is no number', 'many', 16, 3],
    ['one on one core', '4', 1, 1],
  ])('hashes %s (UV_THREADPOOL_SIZE=%j, %i cores)', async (_, threads, cores, expected) => {
    vi.stubEnv('UV_THREADPOOL_SIZE', threads)
    vi.doMock('node:os', async (original) => ({ ...(await original<object>()), availableParallelism: () => cores }))
    vi.resetModules()
    try {
      const gate = await import('../../src/accounts/hash-gate.js')
      expect(gate.defaultConcurrency()).toBe(expected)
    } finally {
      vi.doUnmock('node:os')
      vi.resetModules()
      vi.unstubAllEnvs()
    }
  })
})
