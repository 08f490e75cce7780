import { AsyncLocalStorage } from 'node:async_hooks'
import { type AuthError, createThrottle, type Limiter, type LimiterOptions } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { Attempt } from '../../src/limits/attempt.js'
import type { Throttle } from '../../src/limits/throttle.js'
import { tally } from '../support/concurrency.js'
import { commandsOf, itHolds, often, type Respond, type World } from './world.js'

const SECOND = 1000
/** The limits, in the order in which they refuse. */
const LIMITS = {
  address: { points: 4, duration: 60 },
  pair: { points: 2, duration: 60 },
  account: { points: 3, duration: 120 },
} as const
type LimitName = keyof typeof LIMITS
const NAMES = Object.keys(LIMITS) as LimitName[]

/** A silent store counts as failed after 4 ticks of 10 ms. One tick more passes when a response came just before. */
const PATIENCE = 60
/** A response that comes sooner is heard, unless the store has failed meanwhile. */
const SOON = 30
const REST = 1000
/** A password check takes at most this long, so the store must know of an attempt for that time. */
const LONGEST = 60_000

type Guess = ReturnType<typeof newGuess>

/** Creates one login that the limits count. */
const newGuess = (id: number, process: Process, email: string, address: string, now: number) => ({
  ...{ id, process, email, address, startedAt: now },
  state: 'asks' as 'asks' | 'is admitted' | 'is refused' | End,
  spent: undefined as Attempt | undefined,
  /** The keys of its calls of the store, and the time of the last one that it waited for. */
  calls: new Set<string>(),
  calledAt: now,
  /** The responses of the store while the login waited: failures, and attempts under way in two periods. */
  told: { address: { ...NOTHING }, pair: { ...NOTHING }, account: { ...NOTHING } },
  responses: 0,
  /** A response was so late that the login may have continued without it. */
  isUnsure: false,
  /** The login has heard each response, so that the store knows of the attempt. */
  isCounted: false,
  /** A call was lost, so that the store may never know that the attempt has ended. */
  isLost: false,
  endedAt: 0,
})
const NOTHING = { failures: 0, underWay: 0 }

/** A count in the store, until its window ends, and the logins that were counted. */
interface Counter {
  readonly name: LimitName
  readonly endsAt: number
  count: number
  readonly guesses: Guess[]
}

/** The failures that a process knows of one key, and the time until which a response of the store may have changed the count, or not. */
interface Known {
  failures: number
  endsAt: number
  unsureUntil: number
}

type Behaviour = 'works' | 'fails' | 'counts, but hangs' | 'loses calls'

interface Process {
  readonly throttle: Required<Throttle>
  readonly memory: Map<string, Known>
  restsUntil: number
  reportedAt: number
  /** The number of failures of the store, and the time of its last response. */
  failures: number
  answeredAt: number
}

type End = 'has failed' | 'has succeeded' | 'has disconnected'
type Kit = ReturnType<typeof create>

const keyOf = (name: LimitName, { email, address }: Pick<Guess, 'email' | 'address'>) =>
  `${name} ${name === 'account' ? '' : address} ${name === 'address' ? '' : email}`

/** The responses for one login: for each limit, attempts under way in two periods, and failures. */
const RESPONSES = 3 * NAMES.length

const isUnderWay = ({ state }: Guess) => state === 'asks' || state === 'is admitted'

// One for all runs, because each storage that was ever used costs time at every promise.
const calling = new AsyncLocalStorage<Guess>()

function create(world: World, respond: Respond) {
  const store = { behaviour: 'works' as Behaviour, counters: new Map<string, Counter>() }
  const guesses: Guess[] = []
  const never = () => new Promise<never>(() => {})

  /** Returns the live counter of a key. Opens one when there is none. */
  function counterOf(name: LimitName, key: string, seconds: number): Counter {
    const known = store.counters.get(key)
    if (known && world.steady() < known.endsAt) return known
    const opened = { name, endsAt: world.steady() + seconds * SECOND, count: 0, guesses: [] }
    store.counters.set(key, opened)
    return opened
  }

  /** Notes in the model of a process's memory that the store has reached a limit. */
  function learn({ process }: Guess, name: LimitName, key: string, wait: number, isHeard: boolean): void {
    const now = world.steady()
    const known = process.memory.get(key)
    const failures = LIMITS[name].points
    const isReached = known && now <= known.endsAt && known.failures >= failures
    if (isReached && known.endsAt - now >= wait) return
    const endsAt = now + Math.max(1, wait)
    const unsureUntil = isHeard ? (known?.unsureUntil ?? 0) : Math.max(endsAt, known?.endsAt ?? 0)
    process.memory.set(key, { failures, endsAt, unsureUntil })
  }

  /** Creates a limiter like those of rate-limiter-flexible. */
  function limiterOf({ keyPrefix }: LimiterOptions): Required<Limiter> {
    const name = keyPrefix.replace('login-', '') as LimitName
    const { points, duration } = LIMITS[name]

    /** Makes a call, which the store may lose, fail or execute without a response. */
    async function call(by: number, key: string, seconds: number = duration): Promise<Counter | null> {
      const guess = calling.getStore() as Guess
      const { process } = guess
      const slot = key.split(':')[1]
      const own = keyOf(name, guess) + (slot ? ` in slot ${slot}` : '')
      const startedAt = world.steady()
      const { failures } = process
      // Nobody waits for a call that is repeated because the connection broke.
      const isRepeated = by > 0 && guess.calls.has(own)
      if (by > 0) guess.calls.add(own)
      if (by >= 0) guess.calledAt = startedAt
      await respond('store is called')
      const { behaviour } = store
      guess.isLost ||= behaviour === 'loses calls' || (behaviour === 'counts, but hangs' && by > 0)
      if (behaviour === 'loses calls') return never()
      if (behaviour === 'fails') {
        await respond('store answers')
        process.answeredAt = world.steady()
        if (by > 0 && !isRepeated && world.steady() - startedAt < SOON) process.restsUntil = world.steady() + REST
        throw new Error('store is down')
      }
      const counter = by === 0 ? store.counters.get(own) : counterOf(name, own, seconds)
      const found = counter && world.steady() < counter.endsAt ? counter : null
      if (found) found.count += by
      if (found && by > 0) found.guesses.push(guess)
      const count = found?.count ?? 0
      if (behaviour === 'counts, but hangs') return never()
      await respond('store answers')
      process.answeredAt = world.steady()
      const isHeard = world.steady() - startedAt < SOON && process.failures === failures
      if (guess.state === 'asks') {
        guess.responses++
        guess.isUnsure ||= !isHeard
        if (slot) guess.told[name].underWay += count
        else guess.told[name].failures = count
      }
      if (!slot && count >= points && by >= 0 && found && !isRepeated) {
        learn(guess, name, own, Math.max(0, found.endsAt - world.steady()), isHeard)
      }
      return found && { ...found, count }
    }

    const result = (counter: Counter | null) =>
      counter && { consumedPoints: counter.count, msBeforeNext: Math.max(0, counter.endsAt - world.steady()) }
    return {
      async consume(key) {
        const counted = await call(1, key)
        if (counted && counted.count > points) throw result(counted)
        return result(counted)
      },
      async penalty(key, _, { customDuration }) {
        const { process } = calling.getStore() as Guess
        world.must(world.steady() >= process.restsUntil, 'a failed store is not called for a second')
        return result(await call(1, key, customDuration))
      },
      reward: async (key) => result(await call(-1, key)),
      get: async (key) => result(await call(0, key)),
      delete: async () => {},
    }
  }

  const processes = [0, 1].map((): Process => {
    const throttle = createThrottle({ limiter: limiterOf, limits: LIMITS })
    const [restsUntil, reportedAt, failures, answeredAt] = [0, -REST, 0, 0]
    return { throttle, memory: new Map(), restsUntil, reportedAt, failures, answeredAt }
  })

  const underWayIn = (process: Process, name: LimitName, key: string) =>
    guesses.filter((one) => one.process === process && isUnderWay(one) && keyOf(name, one) === key).length

  /** Returns how memory must refuse a login. `unsure`: it may refuse. */
  function refusalInMemory(guess: Guess): { code: string; retryAfter?: number } | 'unsure' | undefined {
    const { process } = guess
    const now = world.steady()
    const known = NAMES.map((name) => {
      const key = keyOf(name, guess)
      const found = process.memory.get(key)
      // A window in memory includes its last millisecond.
      const failures = found && now <= found.endsAt ? found.failures : 0
      const isUnsure = found !== undefined && now <= found.unsureUntil
      return { name, key, failures, isUnsure, endsAt: found?.endsAt ?? 0 }
    })
    if (known.some(({ isUnsure }) => isUnsure)) return 'unsure'
    const reached = known.find(({ name, failures }) => failures >= LIMITS[name].points)
    if (reached) {
      return { code: 'too_many_attempts', retryAfter: Math.max(1, Math.ceil((reached.endsAt - now) / SECOND)) }
    }
    const full = known.find(
      ({ name, key, failures }) => failures + underWayIn(process, name, key) >= LIMITS[name].points,
    )
    return full && { code: 'overloaded', retryAfter: 1 }
  }

  /** Returns how the store's responses refuse a login, perhaps together with failures that only memory knows. */
  function refusalOfStore(guess: Guess, memory?: ReadonlyMap<string, Known>): string | undefined {
    const { told } = guess
    const counts = NAMES.map((name) => {
      const known = memory?.get(keyOf(name, guess))
      const isLive = known !== undefined && world.steady() <= known.endsAt
      const failures = Math.max(told[name].failures, isLive ? known.failures : 0)
      return { failures, all: failures + told[name].underWay, points: LIMITS[name].points }
    })
    if (counts.some(({ failures, points }) => failures >= points)) return 'too_many_attempts'
    return counts.some(({ all, points }) => all > points) ? 'overloaded' : undefined
  }

  return {
    world,
    store,
    guesses,
    guess(index: number, email: string, address: string): void {
      const process = processes[index] as Process
      const guess = newGuess(guesses.length, process, email, address, world.steady())
      const expected = refusalInMemory(guess)
      const isKnown = typeof expected === 'object' && expected.code === 'too_many_attempts'
      // It only asks the store whether the account was reset.
      if (isKnown) guess.state = 'is refused'
      guesses.push(guess)
      const failures = process.failures
      const storeFailed = (error: unknown) => {
        const isSilent = world.steady() - Math.max(guess.calledAt, process.answeredAt) >= SOON
        world.must(isSilent || /down/.test(String(error)), 'a failure is reported only of a store that failed')
        world.must(world.steady() >= process.reportedAt + REST, 'a failure is reported once in a second')
        process.reportedAt = world.steady()
        process.failures++
      }
      calling
        .run(guess, () => process.throttle.consume(email, address, storeFailed))
        .then(
          (spent) => {
            const isHeard = process.failures === failures && !guess.isUnsure
            world.must(
              expected === undefined || expected === 'unsure',
              'no process allows more failures than the limit, also while the store is down',
            )
            world.must(!isHeard || !refusalOfStore(guess), 'a refusal of the store refuses the login that waits for it')
            Object.assign(guess, { state: 'is admitted', spent, isCounted: isHeard && guess.responses === RESPONSES })
          },
          ({ code, headers }: AuthError) => {
            // Meanwhile memory may have learned of failures.
            const inMemory = expected === 'unsure' ? code : expected?.code
            const codes = [inMemory, refusalOfStore(guess), refusalOfStore(guess, process.memory)]
            world.must(/^(too_many_attempts|overloaded)$/.test(code), 'a failure of the store refuses no login')
            world.must(
              codes.includes(code) || process.failures !== failures,
              'a login is refused only by a limit that is used up',
            )
            const wait = typeof expected === 'object' ? expected.retryAfter : code === 'overloaded' ? 1 : undefined
            world.must(
              wait === undefined || headers['Retry-After'] === String(wait),
              'Retry-After is the rest of the window, and a second where attempts under way refuse',
            )
            guess.state = 'is refused'
          },
        )
    },
    end(guess: Guess, how: End): void {
      const { process } = guess
      const now = world.steady()
      Object.assign(guess, { state: how, endedAt: now })
      for (const name of NAMES) {
        if (how !== 'has failed') continue
        const key = keyOf(name, guess)
        const known = process.memory.get(key)
        const opened = {
          failures: 0,
          endsAt: now + LIMITS[name].duration * SECOND,
          unsureUntil: known?.unsureUntil ?? 0,
        }
        const live = known && now <= known.endsAt ? known : opened
        live.failures++
        process.memory.set(key, live)
      }
      // An attempt ends once, also when it is ended twice.
      for (let i = 0; i < 2; i++) {
        calling.run(guess, () => {
          const others = how === 'has disconnected' ? 'disconnected' : 'succeeded'
          void guess.spent?.end(how === 'has failed' ? 'failed' : others)
        })
      }
    },
    check(): void {
      const now = world.steady()
      for (const { state, calledAt, process } of guesses) {
        if (state !== 'asks') continue
        const silence = now - Math.max(calledAt, process.answeredAt)
        expect(silence, 'no login waits for a store that is silent').toBeLessThanOrEqual(PATIENCE)
      }
      for (const [key, { name, guesses: failed }] of store.counters) {
        if (key.includes('slot')) continue
        const isExact = ({ isCounted, startedAt, endedAt }: Guess) => isCounted && endedAt - startedAt <= LONGEST
        expect(failed.filter(isExact).length, `failures in one window of all processes: ${key}`).toBeLessThanOrEqual(
          LIMITS[name].points,
        )
        expect(new Set(failed).size, 'a failure counts once').toBe(failed.length)
      }
      const counted = guesses.filter((one) => one.isCounted && isUnderWay(one) && now - one.startedAt <= LONGEST)
      for (const name of NAMES) {
        const most = Math.max(0, ...Object.values(tally(counted.map((one) => keyOf(name, one)))))
        expect(most, `attempts under way in all processes: ${name}`).toBeLessThanOrEqual(LIMITS[name].points)
      }
    },
  }
}

const when = commandsOf<Kit>()
const whenLogin = (emails: string[], addresses: string[]) =>
  when(
    'login at a process',
    fc.tuple(fc.nat(1), fc.constantFrom(...emails), fc.constantFrom(...addresses)),
    (kit, [process, email, address]) => kit.guess(process, `${email}@example.com`, address),
  )
const whenEnds = (how: End) =>
  when(`a login ${how}`, fc.nat(10), (kit, at) => {
    const open = kit.guesses.filter(({ state }) => state === 'is admitted')
    const guess = open[at % open.length]
    if (guess) kit.end(guess, how)
  })
const ends = [...often(2, whenEnds('has failed')), whenEnds('has succeeded')]

const faulty = [
  ...often(4, whenLogin(['alice', 'bob'], ['192.0.2.1', '192.0.2.2'])),
  ...[...ends, whenEnds('has disconnected')],
  when<Behaviour>(
    'the store',
    [...often(3, 'works' as const), 'fails', 'counts, but hangs', 'loses calls'],
    ({ store }, behaviour) => {
      store.behaviour = behaviour
    },
  ),
  when('pass', [1, 10, 40, 45, 60, 100, 999, 1000, 30_000, 58_900, 59_900, 60_000, 60_001], ({ world }, ms) =>
    world.pass(ms),
  ),
]
/** One account and one address, so that each login meets the others. */
const racing = [...often(2, whenLogin(['alice'], ['192.0.2.1'])), ...ends]

describe('no process and no window allows more failures than the limit, and a successful login costs nothing', () => {
  for (const [title, commands, maxCommands] of [
    ['a store that fails', faulty, 80],
    ['simultaneous guesses at one account', racing, 40],
  ] as const) {
    itHolds(title, {
      commands,
      maxCommands,
      runs: 40,
      create,
      async finish({ world, store, guesses, end, check }, drain) {
        store.behaviour = 'works'
        await drain()
        await world.pass(PATIENCE * NAMES.length)
        await drain()
        expect(guesses.filter(({ state }) => state === 'asks')).toEqual([])
        for (const guess of guesses) if (guess.state === 'is admitted') end(guess, 'has succeeded')
        await drain()
        // Refunds that met a broken connection are repeated.
        for (let i = 0; i < 3; i++) {
          await world.pass(SECOND)
          await drain()
        }
        check()
        for (const [key, { count, guesses: counted, endsAt }] of store.counters) {
          if (world.steady() >= endsAt) continue
          const lost = counted.filter(({ isLost }) => isLost).length
          if (key.includes('slot')) {
            expect(count, `attempts that are still under way: ${key}`).toBeLessThanOrEqual(lost)
            expect(count, `attempts that were taken back twice: ${key}`).toBeGreaterThanOrEqual(0)
          } else expect(count, `failures: ${key}`).toBe(counted.length)
        }
      },
    })
  }
})
