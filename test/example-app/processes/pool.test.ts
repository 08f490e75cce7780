import { describe, expect, test } from 'vitest'
import type { Child, End } from '../../../example-app/processes/child.js'
import { startPool } from '../../../example-app/processes/pool.js'

type Answer = 'ready' | 'dead' | 'later'

/** A pool of processes that do as they are told here. */
function makePool(size: number, answers: Answer[] = []) {
  const started: FakeChild[] = []
  const logged: string[] = []
  const pauses: number[] = []
  let go = () => {}
  const pool = startPool({
    size,
    start() {
      const child = fakeChild(answers.shift() ?? 'ready')
      started.push(child)
      return child
    },
    log: (line) => logged.push(line),
    pause: (ms) => {
      pauses.push(ms)
      return new Promise<void>((resolve) => {
        go = resolve
      })
    },
  })
  /** Ends the pause that there is, and lets everything come to rest. */
  const proceed = async () => {
    go()
    await settled()
  }
  return { pool, started, logged, pauses, proceed }
}

interface FakeChild extends Child {
  told: string[]
  introduced: string[]
  becomeReady: () => void
  die: (end?: Partial<End>) => void
}

function fakeChild(answer: Answer): FakeChild {
  let die: FakeChild['die'] = () => {}
  let becomeReady = () => {}
  const ended = new Promise<End>((resolve) => {
    die = (end) => resolve({ code: null, signal: null, ...end })
  })
  const listening = new Promise<{ url: string; demo: [] }>((resolve) => {
    becomeReady = () => resolve({ url: 'http://127.0.0.1:4711', demo: [] })
  })
  if (answer === 'ready') becomeReady()
  if (answer === 'dead') die({ code: 1 })
  const told: string[] = []
  const introduced: string[] = []
  return {
    ready: Promise.race([listening, ended.then(() => undefined)]),
    ended,
    told,
    introduced,
    becomeReady,
    die,
    tell(order) {
      told.push(order)
      die({ code: 0 })
    },
    introduce: (url) => void introduced.push(url),
    restart: async () => true,
    kill: () => die({ signal: 'SIGKILL' }),
  }
}

/** Behind everything that can go on by itself. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the start', () => {
  test('one first, then the others', async () => {
    const { pool, started } = makePool(3, ['later'])
    await settled()
    expect(started).toHaveLength(1)
    started[0]?.becomeReady()
    expect((await pool)?.ready.url).toBe('http://127.0.0.1:4711')
    expect(started).toHaveLength(3)
  })

  test('a first one that does not start is the only one', async () => {
    const { pool, started, logged } = makePool(3, ['dead'])
    expect(await pool).toBeUndefined()
    expect(started).toHaveLength(1)
    expect(logged).toEqual([])
  })

  test('when another one does not start, none stays', async () => {
    const { pool, started } = makePool(3, ['ready', 'dead', 'ready'])
    expect(await pool).toBeUndefined()
    expect(started.map(({ told }) => told)).toEqual([['stop'], [], ['stop']])
  })
})

test('all learn where the reporting API is, and those that take their place too', async () => {
  const { pool, started, proceed } = makePool(2)
  const service = await pool
  expect(started.map(({ introduced }) => introduced)).toEqual([[], []])
  service?.introduce?.('http://127.0.0.1:4712')
  started[0]?.die()
  await settled()
  await proceed()
  expect(await service?.restart?.()).toBe(true)
  expect(started).toHaveLength(5)
  expect(started.map(({ introduced }) => introduced)).toEqual(Array(5).fill(['http://127.0.0.1:4712']))
})

describe('one that dies', () => {
  test('is replaced after a pause', async () => {
    const { pool, started, logged, pauses, proceed } = makePool(2)
    await pool
    started[0]?.die({ signal: 'SIGKILL' })
    await settled()
    expect(logged).toEqual(['A process has ended unexpectedly (SIGKILL): another takes its place.'])
    expect(started).toHaveLength(2)
    await proceed()
    expect(started).toHaveLength(3)
    started[2]?.die({ code: 1 })
    await settled()
    await proceed()
    expect(started).toHaveLength(4)
    expect(pauses).toEqual([1000, 1000])
  })

  test('and nobody can take its place: the pauses grow, up to half a minute', async () => {
    const { pool, started, pauses, proceed } = makePool(1, ['ready', ...Array<Answer>(7).fill('dead')])
    await pool
    started[0]?.die()
    await settled()
    for (let i = 0; i < 8; i++) await proceed()
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    expect(started).toHaveLength(9)
  })

  test('while all are stopped: it is not replaced', async () => {
    const { pool, started, logged, pauses } = makePool(2)
    const service = await pool
    await service?.stop()
    await settled()
    expect(started.map(({ told }) => told)).toEqual([['stop'], ['stop']])
    expect({ logged, pauses }).toEqual({ logged: [], pauses: [] })
  })

  test('and all are stopped in the pause: nobody takes its place', async () => {
    const { pool, started, proceed } = makePool(2)
    const service = await pool
    started[0]?.die()
    await settled()
    await service?.stop()
    await proceed()
    expect(started).toHaveLength(2)
  })
})

describe('a restart', () => {
  test('one after the other, each new one ready before its old one goes', async () => {
    const { pool, started, logged } = makePool(2, ['ready', 'ready', 'later', 'later'])
    const restarted = (await pool)?.restart?.()
    await settled()
    expect(started).toHaveLength(3)
    expect(started[0]?.told).toEqual([])
    started[2]?.becomeReady()
    await settled()
    expect(started[0]?.told).toEqual(['retire'])
    expect(started).toHaveLength(4)
    expect(started[1]?.told).toEqual([])
    started[3]?.becomeReady()
    expect(await restarted).toBe(true)
    expect(started.map(({ told }) => told)).toEqual([['retire'], ['retire'], [], []])
    expect(logged).toEqual([])
  })

  test('whose new process does not start leaves the old ones', async () => {
    const { pool, started, logged } = makePool(2, ['ready', 'ready', 'dead'])
    expect(await (await pool)?.restart?.()).toBe(false)
    expect(started.map(({ told }) => told)).toEqual([[], [], []])
    expect(logged).toEqual(['The new process did not start: the old ones go on.'])
  })

  test('asked for twice more while it goes on: once more', async () => {
    const { pool, started } = makePool(1, ['ready', 'later'])
    const service = await pool
    const all = [service?.restart?.(), service?.restart?.(), service?.restart?.()]
    started[1]?.becomeReady()
    await Promise.all(all)
    expect(started).toHaveLength(3)
    expect(started.map(({ told }) => told)).toEqual([['retire'], ['retire'], []])
  })

  test('in which an old one dies: its place is filled once', async () => {
    const { pool, started, proceed } = makePool(1, ['ready', 'later'])
    const restarted = (await pool)?.restart?.()
    started[0]?.die()
    await settled()
    started[1]?.becomeReady()
    await restarted
    await proceed()
    expect(started).toHaveLength(2)
    expect(started[1]?.told).toEqual([])
  })

  test('in which an old one dies and is replaced first: the surplus one goes', async () => {
    const { pool, started, proceed } = makePool(1, ['ready', 'later', 'ready'])
    const restarted = (await pool)?.restart?.()
    started[0]?.die()
    await settled()
    await proceed()
    expect(started).toHaveLength(3)
    started[1]?.becomeReady()
    await restarted
    await settled()
    expect(started.map(({ told }) => told)).toEqual([[], ['retire'], []])
  })

  test('a stop ends it', async () => {
    const { pool, started, logged } = makePool(2, ['ready', 'ready', 'later'])
    const service = await pool
    const restarted = service?.restart?.()
    await service?.stop()
    expect(await restarted).toBe(false)
    expect(started.map(({ told }) => told)).toEqual([['stop'], ['stop'], ['stop']])
    expect(logged).toEqual([])
  })

  test('the new ones are replaced too when they die', async () => {
    const { pool, started, proceed } = makePool(1)
    await (await pool)?.restart?.()
    started[1]?.die()
    await settled()
    await proceed()
    expect(started).toHaveLength(3)
  })
})
