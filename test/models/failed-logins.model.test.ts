import { AsyncLocalStorage } from 'node:async_hooks'
import { type AuthError, createLimits, type Limiter, type LimiterOptions } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { Attempt, LimitsPort } from '../../src/limits/attempt.js'
import { commandsOf, itHolds, often, type Respond, type World } from './world.js'

const SECOND = 1000
/** The limits, in the order in which they refuse. Their windows are longer than a run. */
const LIMITS = {
  address: { points: 5, duration: 86_400 },
  pair: { points: 3, duration: 86_400 },
  account: { points: 4, duration: 86_400 },
} as const
type LimitName = keyof typeof LIMITS
const NAMES = Object.keys(LIMITS) as LimitName[]

const PROCESSES = 2
/** The hashing threads of each process. */
const THREADS = 2

/** A silent store counts as failed after 4 ticks of 10 ms. One tick more passes when a response came just before. */
const PATIENCE = 60
/** A response that comes sooner is heard, unless the store has failed meanwhile. */
const SOON = 30
const REST = 1000

type End = 'has failed' | 'has succeeded' | 'has disconnected'
type Behaviour = 'works' | 'fails' | 'counts, but hangs' | 'loses calls'
type Guess = ReturnType<typeof newGuess>
type Kit = ReturnType<typeof create>

interface Process {
  readonly limits: LimitsPort
  /** The logins that wait for room in the limits, and those that wait for a hashing thread. */
  waiting: Guess[]
  queue: Guess[]
  freeThreads: number
  reportedAt: number
  answeredAt: number
}

/** Creates one login that the limits count. Spellings of one account differ in a plus sign. */
const newGuess = (process: Process, email: string, address: string, now: number) => ({
  ...{ process, email, address, accountId: email.replace('+', '') },
  state: 'asks' as 'asks' | 'is checked' | 'is a decoy' | 'is refused' | 'has failed as a decoy' | End,
  attempt: undefined as Attempt | undefined,
  isEnding: false,
  /** The time of its last call of the store, which may be the call of another login. */
  calledAt: now,
  /** The keys at which it has counted a failure. */
  counted: new Set<string>(),
})

/** The keys of a login at a limit: of the address, and of the account. */
const keysOf = (name: LimitName, { email, address, accountId }: Pick<Guess, 'email' | 'address' | 'accountId'>) => {
  if (name === 'address') return [address]
  const network = name === 'pair' ? address : ''
  return [`${network} ${email}`, `${network} id ${accountId}`]
}

/** A failure holds its room until the store has counted it. */
const holdsRoom = ({ state, isEnding }: Guess) => state === 'is checked' || isEnding
const isChecked = ({ state }: Guess) => state === 'is checked' || state === 'has failed'
/** A decoy counts at the key of its address only. */
const hasFailed = ({ state }: Guess, key: string) =>
  state === 'has failed' || (state === 'has failed as a decoy' && !key.includes(' id '))

// One for all runs, because each storage that was ever used costs time at every promise.
const calling = new AsyncLocalStorage<Guess>()

/** @param before the failures of each key that the store has counted before the run. Every process reads them before it begins an attempt */
function create(world: World, respond: Respond, before = 0) {
  const store = { behaviour: 'works' as Behaviour, hasFailed: false, counts: new Map<string, number>() }
  const guesses: Guess[] = []
  const never = () => new Promise<never>(() => {})

  /** Creates a limiter like those of rate-limiter-flexible. */
  function limiterOf({ keyPrefix, points, duration }: LimiterOptions): Limiter {
    /** Makes a call, which the store may lose, fail or execute without a response. */
    async function call(key: string, run: (key: string) => number): Promise<object | null> {
      const guess = calling.getStore() as Guess
      guess.calledAt = world.steady()
      await respond('store is called')
      const { behaviour } = store
      if (behaviour === 'loses calls') return never()
      const count = behaviour === 'fails' ? 0 : run(`${keyPrefix}:${key}`)
      if (behaviour === 'counts, but hangs') return never()
      await respond('store answers')
      guess.process.answeredAt = world.steady()
      if (behaviour === 'fails') throw new Error('store is down')
      return count === 0 ? null : { consumedPoints: count, msBeforeNext: duration * SECOND - world.steady() / 1000 }
    }
    return {
      async consume(key) {
        const { counted } = calling.getStore() as Guess
        world.must(!counted.has(keyPrefix + key), 'a failure counts once')
        counted.add(keyPrefix + key)
        const result = await call(key, (own) => {
          const count = (store.counts.get(own) ?? before) + 1
          store.counts.set(own, count)
          return count
        })
        if ((result as { consumedPoints: number }).consumedPoints > points) throw result
        return result
      },
      get: (key) => call(key, (own) => store.counts.get(own) ?? before),
      delete: async () => {},
    }
  }

  const processes = Array.from({ length: PROCESSES }, (): Process => {
    const limits = createLimits({ limiter: limiterOf, limits: LIMITS }) as unknown as LimitsPort
    return { limits, waiting: [], queue: [], freeThreads: THREADS, reportedAt: -REST, answeredAt: 0 }
  })

  /** Returns the number of logins with a key that are in a state. */
  const count = (name: LimitName, key: string, is: (guess: Guess) => boolean) =>
    guesses.filter((one) => is(one) && keysOf(name, one).includes(key)).length
  const failures = (name: LimitName, key: string) => before + count(name, key, (one) => hasFailed(one, key))
  const isUsedUp = (name: LimitName, key: string) => failures(name, key) >= LIMITS[name].points

  /** Returns whether a decoy is due: failures of all processes, or other spellings in its process, leave no room for the account. */
  function mayBeDecoy(guess: Guess): boolean {
    return (['pair', 'account'] as const).some((name) => {
      const key = keysOf(name, guess)[1] as string
      const inProcess = (one: Guess) => one !== guess && one.process === guess.process && holdsRoom(one)
      const hasOthers = count(name, key, (one) => inProcess(one) && one.email !== guess.email) > 0
      return hasOthers || failures(name, key) + count(name, key, inProcess) >= LIMITS[name].points
    })
  }

  function refuse(guess: Guess, { code }: AuthError): void {
    world.must(code === 'too_many_attempts', 'a login is refused only by a limit, also when the store has failed')
    const isDue = NAMES.some((name) => isUsedUp(name, keysOf(name, guess)[0] as string))
    world.must(isDue, 'a login is refused only by a limit that is used up')
    guess.state = 'is refused'
  }

  /** Lets the logins of a process continue that have room in the limits, and those that have a thread. */
  function proceed(process: Process): void {
    for (const guess of process.waiting.splice(0)) {
      try {
        process[guess.attempt?.begin() ? 'queue' : 'waiting'].push(guess)
      } catch (error) {
        refuse(guess, error as AuthError)
      }
    }
    while (process.freeThreads > 0) {
      const guess = process.queue.shift()
      if (!guess) return
      process.freeThreads--
      void calling.run(guess, () => admit(guess))
    }
  }

  async function admit(guess: Guess): Promise<void> {
    const { process } = guess
    guess.calledAt = world.steady()
    try {
      const admission = await (guess.attempt as Attempt).admit(guess.accountId)
      if (admission === 'waits') {
        process.freeThreads++
        process.waiting.push(guess)
      } else if (admission === 'refused') {
        world.must(mayBeDecoy(guess), 'a right password is checked unless the limits of the account are used up')
        guess.state = 'is a decoy'
      } else guess.state = 'is checked'
    } catch (error) {
      process.freeThreads++
      refuse(guess, error as AuthError)
    }
    proceed(process)
  }

  async function begin(guess: Guess): Promise<void> {
    const { process, email, address } = guess
    const storeFailed = (error: unknown) => {
      const isSilent = world.steady() - Math.max(guess.calledAt, process.answeredAt) >= SOON
      world.must(isSilent || /down/.test(String(error)), 'a failure is reported only of a store that failed')
      world.must(world.steady() >= process.reportedAt + REST, 'a failure is reported once in a second')
      process.reportedAt = world.steady()
    }
    guess.attempt = process.limits.attempt({ email, address }, storeFailed)
    try {
      await guess.attempt.check()
      process.waiting.push(guess)
    } catch (error) {
      refuse(guess, error as AuthError)
    }
    proceed(process)
  }

  function guess(index: number, email: string, address: string): Promise<void> {
    const process = processes[index] as Process
    const guess = newGuess(process, email, address, world.steady())
    guesses.push(guess)
    return calling.run(guess, () => begin(guess))
  }

  return {
    world,
    store,
    guesses,
    guess,
    /** The most passwords that all processes may check, for one key of a limit: the bound of docs/reference/options.md. */
    most: (name: LimitName) => LIMITS[name].points + (PROCESSES - 1) * THREADS,
    /** Expects that each process refuses what all processes together have used up. */
    async expectShared(drain: () => Promise<void>): Promise<void> {
      for (const one of guesses.filter((guess) => hasFailed(guess, ''))) {
        if (!NAMES.some((name) => isUsedUp(name, keysOf(name, one)[0] as string))) continue
        for (const index of processes.keys()) {
          const asked = guess(index, one.email, one.address)
          await drain()
          await asked
          expect(guesses.at(-1)?.state, 'each process refuses what all of them have used up').toBe('is refused')
        }
      }
    },
    end(guess: Guess, how: End): void {
      const isDecoy = guess.state === 'is a decoy'
      guess.state = isDecoy ? 'has failed as a decoy' : how
      const outcome =
        isDecoy || how === 'has failed' ? 'failed' : how === 'has succeeded' ? 'succeeded' : 'disconnected'
      const { process, attempt } = guess
      async function end(): Promise<void> {
        guess.isEnding = true
        await attempt?.end(outcome)
        guess.isEnding = false
        process.freeThreads++
        proceed(process)
      }
      calling.run(guess, () => {
        void end()
        // An attempt ends once, also when it is ended twice.
        void attempt?.end(outcome)
      })
    },
    check(): void {
      const now = world.steady()
      for (const one of guesses) {
        const isWaiting = one.process.waiting.includes(one) || one.process.queue.includes(one)
        if (one.state === 'asks' && !isWaiting) {
          const silence = now - Math.max(one.calledAt, one.process.answeredAt)
          expect(silence, 'no login waits for a store that is silent').toBeLessThanOrEqual(PATIENCE)
        }
        for (const name of NAMES) {
          for (const key of keysOf(name, one)) {
            const inProcess = count(name, key, (other) => other.process === one.process && isChecked(other))
            expect(
              inProcess,
              'no process checks more passwords than the limit, also while the store is down',
            ).toBeLessThanOrEqual(LIMITS[name].points)
          }
        }
      }
    },
    /** Expects the bound of all processes together, at every key of the logins. */
    expectBound(most: (name: LimitName) => number): void {
      for (const name of NAMES) {
        for (const key of new Set(guesses.flatMap((one) => keysOf(name, one)))) {
          expect(count(name, key, isChecked), `passwords that all processes check: ${name}`).toBeLessThanOrEqual(
            most(name),
          )
        }
      }
    },
  }
}

const when = commandsOf<Kit>()
const whenLogin = (emails: string[], addresses: string[]) =>
  when(
    'logins at a process',
    fc.tuple(fc.nat(PROCESSES - 1), fc.constantFrom(...emails), fc.constantFrom(...addresses), fc.constantFrom(1, 3)),
    (kit, [process, email, address, count]) => {
      for (let i = 0; i < count; i++) void kit.guess(process, `${email}@example.com`, address)
    },
  )
const whenEnds = (how: End) =>
  when(`a login ${how}`, fc.nat(10), (kit, at) => {
    const open = kit.guesses.filter(({ state }) => state === 'is checked' || state === 'is a decoy')
    const guess = open[at % open.length]
    if (guess) kit.end(guess, how)
  })
const ends = [...often(2, whenEnds('has failed')), whenEnds('has succeeded')]

const faulty = [
  ...often(4, whenLogin(['alice', 'alice+', 'bob'], ['192.0.2.1', '192.0.2.2'])),
  ...[...ends, whenEnds('has disconnected')],
  when<Behaviour>(
    'the store',
    [...often(3, 'works' as const), 'fails', 'counts, but hangs', 'loses calls'],
    ({ store }, behaviour) => {
      store.behaviour = behaviour
      store.hasFailed ||= behaviour !== 'works'
    },
  ),
  when('pass', [1, 10, 40, 45, 60, 100, 999, 1000, 60_000], async ({ world, store }, ms) => {
    await world.pass(ms)
    store.hasFailed = true
  }),
]
/** One account and one address, so that each login meets the others. */
const racing = [...often(4, whenLogin(['alice'], ['192.0.2.1'])), ...often(3, whenEnds('has failed'))]
/** Two spellings of one account. */
const spelled = [...often(4, whenLogin(['alice', 'alice+'], ['192.0.2.1'])), ...often(3, whenEnds('has failed'))]
/** Two spellings of one account, from two addresses. */
const spread = [
  ...often(4, whenLogin(['alice', 'alice+'], ['192.0.2.1', '192.0.2.2'])),
  ...often(3, whenEnds('has failed')),
]

describe('no process checks more wrong passwords than a limit, and all processes together not many more', () => {
  for (const [title, commands, maxCommands] of [
    ['a store that fails', faulty, 80],
    ['simultaneous guesses at one account', racing, 40],
    ['simultaneous guesses with two spellings', spelled, 40],
    ['simultaneous guesses from several addresses', spread, 40],
  ] as const) {
    itHolds(title, {
      commands: [...commands],
      maxCommands,
      runs: 12,
      create,
      async finish({ world, store, guesses, end, check, most, expectShared, expectBound }, drain) {
        store.behaviour = 'works'
        await drain()
        // Everything that is still open fails, and lets others continue that wait.
        for (let open = guesses; open.length > 0; ) {
          await world.pass(PATIENCE * 3)
          await drain()
          open = guesses.filter(({ state }) => state === 'is checked' || state === 'is a decoy')
          for (const guess of open) end(guess, 'has failed')
          await drain()
        }
        expect(guesses.filter(({ state }) => state === 'asks')).toEqual([])
        check()
        if (store.hasFailed) return
        expectBound(most)
        await expectShared(drain)
      },
    })
  }
})

describe('once every process knows a failure, each lets one attempt of a pair run', () => {
  for (const [title, commands] of [
    ['guesses at one account', racing],
    ['guesses with two spellings', spelled],
  ] as const) {
    itHolds(title, {
      commands: [...commands],
      maxCommands: 40,
      runs: 12,
      create: (world, respond) => create(world, respond, 1),
      async finish({ guesses, end, check, expectBound }, drain) {
        await drain()
        for (let open = guesses; open.length > 0; ) {
          open = guesses.filter(({ state }) => state === 'is checked' || state === 'is a decoy')
          for (const guess of open) end(guess, 'has failed')
          await drain()
        }
        check()
        // Without the failure before the run.
        expectBound((name) => (name === 'pair' ? LIMITS.pair.points - 1 + PROCESSES - 1 : Number.POSITIVE_INFINITY))
      },
    })
  }
})
