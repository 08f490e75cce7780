// Not the globals, because the world replaces those.
import { setImmediate } from 'node:timers'
import fc from 'fast-check'
import { expect } from 'vitest'

const START = Date.parse('2026-03-01T12:00:00.000Z')

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** The time of one run of a model. It moves only when a command moves it. */
export interface World {
  /** Returns the steady clock (`performance.now`), which nothing sets back. */
  steady(): number
  /** Returns the wall clock (`Date.now`). */
  wall(): number
  /** Lets time pass. Calls the timers that are due, in their order. */
  pass(ms: number): Promise<void>
  /** Moves only the wall clock, as an administrator or a machine that slept does. */
  jump(ms: number): void
  /** Notes a broken promise, also from a callback whose errors nobody would see. */
  must(fits: boolean, promise: string): void
  /** The broken promises. */
  readonly broken: readonly string[]
  /** Restores the real clocks, timers and `fetch`. */
  end(): void
}

/** Lets all promises and immediates settle. Takes no time of the world. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 2; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Replaces the clocks, the timers and the random numbers of this process. */
export function startWorld({ random = 0.5 } = {}): World {
  const real = { setTimeout, clearTimeout, fetch, date: Date.now, steady: performance.now, random: Math.random }
  const timers = new Set<Timer>()
  const broken: string[] = []
  let steady = 1_000_000
  let ahead = START - steady

  function schedule(call: (...values: unknown[]) => void, ms = 0, ...values: unknown[]): Timer {
    const timer = { at: steady + Math.max(1, ms), run: () => call(...values) }
    timers.add(timer)
    return timer
  }

  function nextUntil(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) if (timer.at <= end && (!next || timer.at < next.at)) next = timer
    return next
  }

  globalThis.setTimeout = schedule as unknown as typeof setTimeout
  globalThis.clearTimeout = ((timer: Timer) => timers.delete(timer)) as unknown as typeof clearTimeout
  Date.now = () => steady + ahead
  performance.now = () => steady
  Math.random = () => random

  return {
    steady: () => steady,
    wall: () => steady + ahead,
    async pass(ms) {
      const end = steady + ms
      for (let timer = nextUntil(end); timer; timer = nextUntil(end)) {
        timers.delete(timer)
        steady = Math.max(steady, timer.at)
        timer.run()
        await settle()
      }
      steady = end
      await settle()
    },
    jump(ms) {
      ahead += ms
    },
    must(fits, promise) {
      if (!fits) broken.push(promise)
    },
    broken,
    end() {
      Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout, fetch: real.fetch })
      Date.now = real.date
      performance.now = real.steady
      Math.random = real.random
    },
  }
}

/** The real system, with the state that the model knows of it. */
interface Subject {
  readonly world: World
  /** Expects what must be true at every moment. Called after each step. */
  check?(): void
}

/** A command of a model. */
export type Command<T extends object> = fc.AsyncCommand<T, T, boolean>

/** Creates a command from a name and a function. */
export function command<T extends Subject>(
  name: string,
  run: (it: T) => unknown,
  check: (it: T) => boolean = () => true,
): Command<T> {
  return {
    check: async (it) => check(it as T),
    run: async (_, it) => {
      await run(it)
      expect(it.world.broken).toEqual([])
    },
    toString: () => name,
  }
}

/** Waits until a fake service responds, in an order that the scheduler decides. */
export type Respond = (label: string) => Promise<void>

interface Model<T extends Subject> {
  /** The commands, from the arbitraries in the list. An arbitrary that is listed twice comes twice as often. */
  commands: fc.Arbitrary<Command<T>>[]
  maxCommands: number
  runs: number
  /** The smallest random number of a run. Default 0. */
  leastRandom?: number
  create(world: World, respond: Respond): T
  /**
   * Called when no response is left. Expects what must be true in the end.
   * @param drain lets all services respond
   */
  finish(it: T, drain: () => Promise<void>): Promise<void>
}

/** The number of runs is multiplied by this variable, for a long search. */
const FACTOR = Number(process.env['MODEL_RUNS'] ?? 1)
/** The time limit of a model's test, in milliseconds. A busy machine needs more than the seconds of a quiet one. */
export const TIME_LIMIT = 600_000 * Math.max(1, FACTOR)
/** A run with a planted fault needs no small example. */
const endOnFailure = process.env['MODEL_FAULT'] !== undefined

/**
 * Runs a model against the real system. The scheduler of fast-check decides the order of commands and responses. Everything else
 * settles after each of them.
 */
export async function runModel<T extends Subject>(model: Model<T>) {
  const { commands, maxCommands, runs, leastRandom = 0, create, finish } = model
  let subject: T | undefined
  const scheduler = fc.scheduler({
    act: async (step) => {
      await step()
      await settle()
      subject?.check?.()
    },
  })
  const lists = fc.commands(commands as fc.Arbitrary<fc.AsyncCommand<object, T, boolean>>[], {
    maxCommands,
    size: 'max',
  })
  const numbers = fc.double({ min: leastRandom, max: 0.999, noNaN: true })
  const property = fc.asyncProperty(scheduler, lists, numbers, async (s, list, random) => {
    const world = startWorld({ random })
    try {
      const it = create(world, (label) => s.schedule(Promise.resolve(), label))
      subject = it
      await fc.scheduledModelRun(s, () => ({ model: it, real: it }), list)
      await finish(it, async () => {
        await settle()
        await s.waitAll()
      })
      expect(world.broken).toEqual([])
    } finally {
      world.end()
    }
  })
  await fc.assert(property, { numRuns: Math.ceil(runs * FACTOR), endOnFailure })
}
