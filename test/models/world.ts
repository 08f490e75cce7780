// Not the global, because the world replaces it.
import { setImmediate } from 'node:timers'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'

/** The wall clock when the steady clock shows 0. */
export const EPOCH = Date.parse('2026-03-01T12:00:00.000Z')

/** Lets all promises and immediates settle. Takes no time of the world. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 2; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** The time of one run of a model. It moves only when a command moves it. */
export type World = ReturnType<typeof startWorld>

/** Replaces the clocks, the timers and the random numbers of this process. */
function startWorld(random: number) {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const broken: string[] = []
  let steady = 1_000_000
  let ahead = EPOCH

  vi.stubGlobal('setTimeout', (call: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) => {
    const timer = { at: steady + Math.max(1, ms), run: () => call(...values) }
    timers.add(timer)
    return timer
  })
  vi.stubGlobal('clearTimeout', timers.delete.bind(timers))
  const real = { date: Date.now, steady: performance.now, random: Math.random }
  Date.now = () => steady + ahead
  performance.now = () => steady
  Math.random = () => random

  return {
    /** Returns the steady clock (`performance.now`), which nothing sets back. */
    steady: () => steady,
    /** Returns the wall clock (`Date.now`). */
    wall: () => steady + ahead,
    /** Lets time pass. Calls the timers that are due, in their order. */
    async pass(ms: number): Promise<void> {
      const end = steady + ms
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        steady = Math.max(steady, next?.at ?? end)
        if (next) timers.delete(next)
        next?.run()
        await settle()
        if (!next) return
      }
    },
    /** Moves only the wall clock, as an administrator or a machine that slept does. */
    jump(ms: number): void {
      ahead += ms
    },
    /** Notes a broken promise, also from a callback whose errors nobody would see. */
    must(fits: boolean, promise: string): void {
      if (!fits) broken.push(promise)
    },
    /** The broken promises. */
    broken,
    /** Restores the real clocks, random numbers and globals. */
    end(): void {
      vi.unstubAllGlobals()
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

/** The arbitrary commands of a model. One that is listed twice comes twice as often. */
export type Commands<T extends object> = fc.Arbitrary<fc.AsyncCommand<T, T, boolean>>[]

/** Returns a list that has each of the commands several times. */
export const often = <T>(times: number, ...commands: T[]): T[] => Array.from({ length: times }, () => commands).flat()

/**
 * Returns a function that creates arbitrary commands of a model. A command has a name, and is called with one of the values, which a
 * failure prints.
 */
export function commandsOf<T extends Subject>() {
  return <V>(
    name: string,
    values: fc.Arbitrary<V> | readonly V[],
    run: (it: T, value: V) => unknown,
    canRun: (it: T) => boolean = () => true,
  ): Commands<T>[number] =>
    (values instanceof fc.Arbitrary ? values : fc.constantFrom(...values)).map((value) => ({
      check: async (it) => canRun(it as T),
      async run(_, it) {
        await run(it, value)
        expect(it.world.broken).toEqual([])
      },
      toString: () => `${name} ${fc.stringify(value)}`,
    }))
}

/** Waits until a fake service responds, in an order that the scheduler decides. */
export type Respond = (label: string) => Promise<void>

interface Model<T extends Subject> {
  commands: Commands<T>
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
const TIME_LIMIT = 600_000 * Math.max(1, FACTOR)
/** A run with a planted fault needs no small example. */
const endOnFailure = process.env['MODEL_FAULT'] !== undefined

/**
 * Runs a model against the real system. The scheduler of fast-check decides the order of commands and responses. Everything else
 * settles after each of them.
 */
export function itHolds<T extends Subject>(
  title: string,
  { commands, maxCommands, runs, leastRandom = 0, create, finish }: Model<T>,
): void {
  it(title, { timeout: TIME_LIMIT }, async () => {
    let subject: T | undefined
    const scheduler = fc.scheduler({
      act: async (step) => {
        await step()
        await settle()
        subject?.check?.()
      },
    })
    const lists = fc.commands<T, T, boolean>(commands, { maxCommands, size: 'max' })
    const numbers = fc.double({ min: leastRandom, max: 0.999, noNaN: true })
    const property = fc.asyncProperty(scheduler, lists, numbers, async (s, list, random) => {
      const world = startWorld(random)
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
  })
}
