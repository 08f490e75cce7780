import { AsyncLocalStorage } from 'node:async_hooks'
import { type AuthError, createThrottle, type Limiter, type LimiterOptions } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Throttle } from '../../src/accounts/throttle/throttle.js'
import { command, type Respond, runModel, TIME_LIMIT, type World } from './world.js'

const SECOND = 1000
/** The limits, in the order in which an attempt is counted. */
const LIMITS = {
  address: { points: 4, duration: 60 },
  pair: { points: 2, duration: 60 },
  account: { points: 3, duration: 120 },
} as const
type LimitName = keyof typeof LIMITS
const NAMES = Object.keys(LIMITS) as LimitName[]

/** A silent store counts as failed after 4 ticks of 10 ms. One tick more passes when a response came just before. */
const PATIENCE = 60
const REST = 1000
const REFUND_MARGIN = 100

/** One login that the limits count. */
interface Guess {
  readonly id: number
  readonly process: number
  readonly email: string
  readonly address: string
  /** The windows in memory that must count this attempt. */
  readonly inMemory: { readonly name: LimitName; readonly window: Window }[]
  state: 'asks' | 'is admitted' | 'is refused' | 'has failed' | 'has succeeded' | 'has disconnected'
  giveBack?: (except?: 'address') => void
  /** The call of the store that this login waits for. */
  waits?: Call | undefined
  isRefusedByStore: boolean
  /** The time at which the attempt was given back. */
  returnedAt?: number
}

/** The attempts that count for one key until the window ends. */
interface Window {
  readonly endsAt: number
  readonly calls: Call[]
  count: number
  /** Refunds that were sent before the end of the window before, and arrived after it. */
  lateRefunds: number
}

/** A `consume` that a store has received. */
interface Call {
  readonly guess: Guess
  readonly name: LimitName
  readonly startedAt: number
  window?: Window
  isAllowed?: boolean
  answeredAt?: number
  /** A later refund could reach the next window, so it is not sent. */
  refundableUntil?: number
  /** True when the store cannot know that the attempt was given back. */
  isLost: boolean
}

/** Returns the live window of a key. Opens one when there is none. */
function windowOf(
  windows: Map<string, Window>,
  key: string,
  name: LimitName,
  isOver: (endsAt: number) => boolean,
  now: number,
): Window {
  const known = windows.get(key)
  if (known && !isOver(known.endsAt)) return known
  const opened = { endsAt: now + LIMITS[name].duration * SECOND, calls: [], count: 0, lateRefunds: 0 }
  windows.set(key, opened)
  return opened
}

type Behaviour = 'works' | 'fails' | 'counts, but hangs' | 'loses calls'

interface Process {
  readonly throttle: Required<Throttle>
  /** The windows that the limits in memory must have. */
  readonly memory: Map<string, Window>
  restsUntil: number
  /** The last response of the store to this process. */
  answeredAt: number
}

interface Kit {
  readonly world: World
  readonly store: { behaviour: Behaviour; readonly windows: Map<string, Window> }
  readonly processes: readonly Process[]
  readonly guesses: Guess[]
  guess(process: number, email: string, address: string): void
  end(guess: Guess, how: 'has failed' | 'has succeeded' | 'has disconnected'): void
  check(): void
}

const keyOf = (name: LimitName, { email, address }: Pick<Guess, 'email' | 'address'>) =>
  `${name} ${name === 'account' ? '' : address} ${name === 'address' ? '' : email}`

function create(world: World, respond: Respond): Kit {
  const store: Kit['store'] = { behaviour: 'works', windows: new Map() }
  const guesses: Guess[] = []
  const asking = new AsyncLocalStorage<Guess>()
  const storeWindow = (name: LimitName, guess: Guess) =>
    windowOf(store.windows, keyOf(name, guess), name, (endsAt) => world.steady() >= endsAt, world.steady())
  const never = () => new Promise<never>(() => {})

  /** Creates a limiter like those of rate-limiter-flexible. */
  function limiterOf(processIndex: number, { keyPrefix }: LimiterOptions): Limiter {
    const name = keyPrefix.replace('login-', '') as LimitName
    const process = () => processes[processIndex] as Process
    const answer = async () => {
      await respond('store answers')
      process().answeredAt = world.steady()
    }
    return {
      async consume() {
        const guess = asking.getStore() as Guess
        const call: Call = { guess, name, startedAt: world.steady(), isLost: false }
        const isCompensation = guess.state !== 'asks'
        if (!isCompensation) {
          world.must(world.steady() >= process().restsUntil, 'a failed store is not called for a second')
          guess.waits = call
        }
        await respond('store is called')
        const { behaviour } = store
        if (behaviour === 'loses calls') return never()
        if (behaviour === 'fails') {
          await answer()
          throw new Error('store is down')
        }
        const window = storeWindow(name, guess)
        window.count++
        call.window = window
        call.isAllowed = window.count <= LIMITS[name].points
        if (!isCompensation) window.calls.push(call)
        if (behaviour === 'counts, but hangs') {
          call.isLost = true
          return never()
        }
        const result = { msBeforeNext: window.endsAt - world.steady(), consumedPoints: window.count }
        call.refundableUntil = call.startedAt + result.msBeforeNext - REFUND_MARGIN
        await answer()
        call.answeredAt = world.steady()
        const isWaiting = guess.waits === call && guess.state === 'asks'
        if (guess.waits === call) guess.waits = undefined
        if (call.isAllowed) return result
        guess.isRefusedByStore ||= isWaiting
        throw result
      },
      async reward() {
        const guess = asking.getStore() as Guess
        const sentTo = store.windows.get(keyOf(name, guess))
        await respond('store is called')
        const counted = sentTo?.calls.find((call) => call.guess === guess)
        if (store.behaviour === 'loses calls' || store.behaviour === 'fails') {
          if (counted) counted.isLost = true
          return store.behaviour === 'fails' ? Promise.reject(new Error('store is down')) : never()
        }
        const window = storeWindow(name, guess)
        if (window !== sentTo) window.lateRefunds++
        window.count--
        const result = { consumedPoints: window.count, msBeforeNext: window.endsAt - world.steady() }
        if (store.behaviour === 'counts, but hangs') return never()
        await answer()
        return result
      },
    }
  }

  const processes = [0, 1].map((index): Process => {
    const throttle = createThrottle({ limiter: (options) => limiterOf(index, options), budgets: LIMITS })
    return { throttle, memory: new Map(), restsUntil: 0, answeredAt: 0 }
  })

  /** Takes an attempt back in the model of the memory. */
  function takeBack({ inMemory, process }: Guess, except?: LimitName): void {
    const { memory } = processes[process] as Process
    for (const { name, window } of inMemory) {
      if (name === except) continue
      window.count--
      for (const [key, known] of memory) if (known === window && window.count === 0) memory.delete(key)
    }
  }

  function countInMemory(guess: Guess): number | undefined {
    const { memory } = processes[guess.process] as Process
    const now = world.steady()
    for (const name of NAMES) {
      // A window in memory includes its last millisecond.
      const window = windowOf(memory, keyOf(name, guess), name, (endsAt) => now > endsAt, now)
      if (window.count >= LIMITS[name].points) {
        takeBack(guess)
        return Math.max(1, Math.ceil((window.endsAt - now) / SECOND))
      }
      window.count++
      guess.inMemory.push({ name, window })
    }
    return undefined
  }

  return {
    world,
    store,
    processes,
    guesses,
    guess(index, email, address) {
      const process = processes[index] as Process
      const guess: Guess = {
        id: guesses.length,
        process: index,
        email,
        address,
        inMemory: [],
        state: 'asks',
        isRefusedByStore: false,
      }
      guesses.push(guess)
      const isUsedUp = (name: LimitName) => {
        const known = process.memory.get(keyOf(name, guess))
        return known !== undefined && known.count >= LIMITS[name].points && world.steady() <= known.endsAt
      }
      const isKnown = NAMES.some(isUsedUp)
      let checked = true
      try {
        process.throttle.check(email, address)
      } catch {
        checked = false
      }
      world.must(checked !== isKnown, 'a limit that is known to be used up refuses at once, and no other does')
      const retryAfter = countInMemory(guess)
      const storeFailed = (error: unknown) => {
        const isSilent = world.steady() - Math.max(guess.waits?.startedAt ?? 0, process.answeredAt) >= 30
        world.must(isSilent || /down/.test(String(error)), 'a failure is reported only of a store that failed')
        world.must(world.steady() >= process.restsUntil, 'a failure is reported once in a second')
        process.restsUntil = world.steady() + REST
      }
      asking
        .run(guess, () => process.throttle.spend(email, address, storeFailed))
        .then(
          ({ giveBack }) => {
            world.must(
              retryAfter === undefined,
              'no process allows more failures than the limit, also while the store is down',
            )
            world.must(!guess.isRefusedByStore, 'a refusal of the store refuses the login that waits for it')
            Object.assign(guess, { state: 'is admitted', giveBack, waits: undefined })
          },
          (error: AuthError) => {
            const isExpected = retryAfter !== undefined || guess.isRefusedByStore
            world.must(error.code === 'too_many_attempts', 'a failure of the store refuses no login')
            world.must(isExpected, 'a login is refused only by a limit that is used up')
            if (retryAfter !== undefined) {
              world.must(error.headers['Retry-After'] === String(retryAfter), 'Retry-After is the rest of the window')
            } else takeBack(guess)
            Object.assign(guess, { state: 'is refused', waits: undefined, returnedAt: world.steady() })
          },
        )
    },
    end(guess, how) {
      guess.state = how
      if (how === 'has failed') return
      const except = how === 'has disconnected' ? 'address' : undefined
      takeBack(guess, except)
      guess.returnedAt = world.steady()
      // An attempt is taken back once, also when it is given back twice.
      for (let i = 0; i < 2; i++) asking.run(guess, () => guess.giveBack?.(except))
    },
    check() {
      const now = world.steady()
      for (const { waits, process } of guesses) {
        if (!waits) continue
        const { answeredAt } = processes[process] as Process
        const silence = now - Math.max(waits.startedAt, answeredAt)
        expect(silence, 'no login waits for a store that is silent').toBeLessThanOrEqual(PATIENCE)
      }
      for (const window of store.windows.values()) {
        for (const name of NAMES) {
          const counted = window.calls.filter((call) => call.name === name && call.isAllowed && counts(call))
          const most = LIMITS[name].points + window.lateRefunds
          expect(counted.length, `failures in one window of all processes: ${name}`).toBeLessThanOrEqual(most)
        }
      }
    },
  }
}

/** Returns whether an attempt must count: it may fail, or has failed. */
function counts({ guess: { state }, name }: Call): boolean {
  const stays = state === 'has disconnected' && name === 'address'
  return stays || state === 'is admitted' || state === 'has failed'
}

/** Returns whether the store must have received the refund of an attempt. */
function isRefunded({ guess, isLost, answeredAt, refundableUntil }: Call): boolean {
  if (isLost || answeredAt === undefined || refundableUntil === undefined) return false
  return Math.max(answeredAt, guess.returnedAt ?? 0) <= refundableUntil
}

const BEHAVIOURS: Behaviour[] = ['works', 'works', 'works', 'fails', 'counts, but hangs', 'loses calls']

const commands = [
  ...Array.from({ length: 4 }, () =>
    fc
      .tuple(fc.nat(1), fc.constantFrom('alice', 'bob'), fc.constantFrom('192.0.2.1', '192.0.2.2'))
      .map(([process, email, address]) =>
        command<Kit>(`login of ${email} from ${address} at process ${process}`, (kit) =>
          kit.guess(process, `${email}@example.com`, address),
        ),
      ),
  ),
  ...(['has failed', 'has succeeded', 'has succeeded', 'has disconnected'] as const).map((how) =>
    fc.nat(10).map((at) =>
      command<Kit>(`login ${at} ${how}`, (kit) => {
        const open = kit.guesses.filter(({ state }) => state === 'is admitted')
        const guess = open[at % open.length]
        if (guess) kit.end(guess, how)
      }),
    ),
  ),
  fc.constantFrom(...BEHAVIOURS).map((behaviour) =>
    command<Kit>(`the store ${behaviour}`, ({ store }) => {
      store.behaviour = behaviour
    }),
  ),
  fc
    .constantFrom(1, 10, 40, 45, 60, 100, 999, 1000, 30_000, 58_900, 59_900, 60_000, 60_001)
    .map((ms) => command<Kit>(`pass ${ms} ms`, ({ world }) => world.pass(ms))),
]

describe('failed-login limits and a store that fails', () => {
  it(
    'no process and no window allows more failures than the limit, and a successful login costs nothing',
    async () => {
      await runModel<Kit>({
        commands,
        maxCommands: 80,
        runs: 40,
        create,
        async finish({ world, store, guesses, end, check }, drain) {
          store.behaviour = 'works'
          await drain()
          await world.pass(PATIENCE * NAMES.length)
          expect(guesses.filter(({ state }) => state === 'asks')).toEqual([])
          for (const guess of guesses) if (guess.state === 'is admitted') end(guess, 'has succeeded')
          await drain()
          check()
          for (const [key, { calls, count, endsAt, lateRefunds }] of store.windows) {
            if (world.steady() >= endsAt) continue
            const failed = calls.filter(counts).length
            const lost = calls.filter((call) => !counts(call) && !isRefunded(call)).length
            expect(count, `attempts that count: ${key}`).toBeGreaterThanOrEqual(failed - lateRefunds)
            expect(count, `attempts that count: ${key}`).toBeLessThanOrEqual(failed + lost + lateRefunds)
          }
        },
      })
    },
    TIME_LIMIT,
  )
})
