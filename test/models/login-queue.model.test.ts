import { type AuthError, createPasswords, type Hasher } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAuthentication } from '../../src/accounts/login.js'
import type { Throttle } from '../../src/accounts/throttle/throttle.js'
import { createRounds } from './rounds.js'
import { command, runModel, settle, TIME_LIMIT, type World } from './world.js'

const TIMEOUT = 5000
const SLOTS_PER_THREAD = 32
/** A hash that does not end keeps its thread for that long. */
const LONGEST_HASH = 12 * TIMEOUT
/** Logins of one limit that may be under way at a time. */
const ROOM = 2

/** The course of a login. A `limit` leaves room for two attempts under way, and `wide` leaves room for all. */
interface Plan {
  readonly lookUp: 'ends' | 'fails' | 'hangs'
  readonly hash: 'ends' | 'fails' | 'hangs'
  readonly account: 'right password' | 'wrong password' | 'unknown'
  readonly limit: 'one' | 'other' | 'wide'
}

interface OneLogin {
  readonly id: number
  readonly network: string
  readonly plan: Plan
  readonly startedAt: number
  readonly connection: AbortController
  state: 'waits' | 'looks up' | 'is ready' | 'hashes' | 'has hashed' | 'has ended'
  /** The parts of the login that have begun and have not ended. */
  isUnderWay: boolean
  isLookedUp: boolean
  isHashed: boolean
  lookUpAt?: number
  lookedUpAt?: number
  hashAt?: number
  hashedAt?: number
  abortedAt?: number
  outcome?: string
}

/** A call that a command ends. */
interface Pending {
  readonly one: OneLogin
  readonly end: () => void
}

interface Kit {
  readonly world: World
  readonly concurrency: number
  readonly logins: OneLogin[]
  readonly lookUps: Pending[]
  readonly hashes: Pending[]
  logIn(network: string, plan: Plan): void
  load(): { active: number; waiting: number }
  check(): void
}

function create(world: World, concurrency: number, queue: number): Kit {
  const logins: OneLogin[] = []
  const lookUps: Pending[] = []
  const hashes: Pending[] = []
  const slots = concurrency * SLOTS_PER_THREAD
  const rounds = { slots: createRounds(), threads: createRounds() }

  const inState = (state: OneLogin['state']) => logins.filter((one) => one.state === state)
  const hasRoom = ({ plan: { limit } }: OneLogin) =>
    limit === 'wide' || logins.filter((one) => one.isUnderWay && one.plan.limit === limit).length < ROOM
  const networksOf = (list: OneLogin[]) => new Set(list.map(({ network }) => network))
  const loginOf = (text: string) => logins[Number(/\d+/.exec(text)?.[0])] as OneLogin
  const mustBeFair = (by: keyof typeof rounds, waits: OneLogin['state'], { network }: OneLogin) => {
    const waiting = networksOf(inState(waits).filter((one) => waits !== 'waits' || hasRoom(one)))
    if (waiting.has(network)) world.must(rounds[by].serve(network, waiting), `networks take turns at the ${by}`)
  }

  function pendingIn(list: Pending[], one: OneLogin, how: 'ends' | 'fails' | 'hangs', isOver: () => void) {
    return new Promise<void>((resolve, reject) => {
      if (how === 'hangs') return
      const end = () => {
        isOver()
        if (how === 'fails') reject(new Error('down'))
        else resolve()
      }
      list.push({ one, end })
    })
  }

  const hasher: Hasher & Required<Pick<Hasher, 'hash'>> = {
    accepts: () => true,
    hash: (password) => `hash of ${password}`,
    async verify(password, hash) {
      const one = loginOf(password)
      mustBeFair('threads', 'is ready', one)
      world.must(one.abortedAt === undefined, 'no password is hashed for a client that has disconnected')
      world.must(one.hashAt === undefined && one.state === 'is ready', 'one password check for each login')
      Object.assign(one, { state: 'hashes', hashAt: world.steady(), isHashed: true })
      await pendingIn(hashes, one, one.plan.hash, () => {
        one.isHashed = false
        if (one.state === 'hashes') Object.assign(one, { state: 'has hashed', hashedAt: world.steady() })
      })
      return hash === `hash of ${password}`
    },
  }
  const passwords = createPasswords({ hashers: [hasher], concurrency, queue })

  async function findByEmail(email: string) {
    const one = loginOf(email)
    mustBeFair('slots', 'waits', one)
    world.must(one.abortedAt === undefined, 'nothing is looked up for a client that has disconnected')
    Object.assign(one, { state: 'looks up', lookUpAt: world.steady(), isLookedUp: true })
    await pendingIn(lookUps, one, one.plan.lookUp, () => {
      one.isLookedUp = false
      if (one.state === 'looks up') {
        one.lookedUpAt = world.steady()
        if (one.plan.lookUp === 'ends') one.state = 'is ready'
      }
    })
    const { account } = one.plan
    if (account === 'unknown') return undefined
    const password = account === 'right password' ? `password ${one.id}` : 'another'
    return { id: `acc-${one.id}`, passwordHash: `hash of ${password}` }
  }
  const store = { findByEmail }
  const throttle: Throttle = {
    attempt(email) {
      const one = loginOf(email)
      const end = () => {
        one.isUnderWay = false
      }
      return {
        check() {},
        begin() {
          one.isUnderWay = hasRoom(one)
          return one.isUnderWay
        },
        async count() {
          world.must(one.isUnderWay, 'an attempt is under way before its password is checked')
        },
        giveBack: end,
        failed: end,
      }
    },
    spend: () => Promise.reject(new Error('not used')),
  }
  const login = createAuthentication({ store, passwords, throttle, timeout: TIMEOUT, clock: Date.now })

  const isWithin = (span: number, since = 0) => world.steady() - since < span
  const keepsThread = ({ isHashed, hashAt }: OneLogin) => isHashed && isWithin(LONGEST_HASH, hashAt)
  /** Returns the logins that hold a slot: those whose look-up or hash has not ended, also without a client, and those between the two. */
  const holding = () =>
    logins.filter(
      (one) => one.state === 'is ready' || keepsThread(one) || (one.isLookedUp && isWithin(TIMEOUT, one.lookUpAt)),
    )

  function mustBeAllowed(one: OneLogin, code: string): void {
    const { plan, startedAt, lookUpAt, lookedUpAt, hashAt, hashedAt } = one
    const now = world.steady()
    const waiting = inState('waits').filter((other) => other !== one)
    const ofNetwork = waiting.filter(({ network }) => network === one.network)
    const room = concurrency + queue - holding().length
    const isCrowded = waiting.length >= room || ofNetwork.length >= Math.ceil(room / 2) || holding().length === 0
    const isLookedUp = lookUpAt !== undefined && lookedUpAt !== undefined && lookedUpAt - lookUpAt <= TIMEOUT
    const isHashed = hashAt !== undefined && hashedAt !== undefined && hashedAt - hashAt <= TIMEOUT
    const tooLate = hashAt === undefined && now - startedAt >= TIMEOUT
    const allowed: Record<string, boolean> = {
      admitted: isHashed && plan.account === 'right password' && plan.hash === 'ends',
      invalid_credentials: isHashed && plan.account !== 'right password' && plan.hash === 'ends',
      client_closed_request: one.abortedAt !== undefined && hashAt === undefined,
      overloaded: tooLate || (lookUpAt === undefined && isCrowded),
      unavailable:
        (isLookedUp && plan.lookUp === 'fails') ||
        (lookUpAt !== undefined && !isLookedUp && now - lookUpAt >= TIMEOUT) ||
        (isHashed && plan.hash === 'fails') ||
        (hashAt !== undefined && !isHashed && now - hashAt >= TIMEOUT),
    }
    world.must(allowed[code] === true, `a login ends as it must, not as ${code}: ${JSON.stringify(one)}`)
  }

  return {
    world,
    concurrency,
    logins,
    lookUps,
    hashes,
    load: () => passwords.load(),
    logIn(network, plan) {
      const connection = new AbortController()
      const one: OneLogin = {
        id: logins.length,
        network,
        plan,
        startedAt: world.steady(),
        connection,
        state: 'waits',
        isUnderWay: false,
        isLookedUp: false,
        isHashed: false,
      }
      logins.push(one)
      const source = { network, connection }
      const credentials = { email: `login-${one.id}@example.com`, password: `password ${one.id}` }
      const context = { address: network, source, signal: connection.signal, dependencyFailed: () => {} }
      const settleAs = (code: string) => {
        mustBeAllowed(one, code)
        Object.assign(one, { state: 'has ended', outcome: code })
      }
      login(credentials, context).then(
        () => settleAs('admitted'),
        ({ code }: AuthError) => settleAs(code),
      )
    },
    check() {
      const [waiting, ready, hashing] = [inState('waits'), inState('is ready'), logins.filter(keepsThread)]
      rounds.slots.wait(networksOf(waiting.filter(hasRoom)))
      rounds.threads.wait(networksOf(ready))
      expect(hashing.length, 'passwords hashed at a time').toBeLessThanOrEqual(concurrency)
      expect(holding().length, 'logins that look up their account').toBeLessThanOrEqual(slots)
      expect(waiting.length, 'logins that wait').toBeLessThanOrEqual(concurrency + queue)
      for (const network of networksOf(waiting)) {
        const own = waiting.filter((one) => one.network === network)
        // A login of a wide limit waits only when all slots are held. The queue has more room while slots are free.
        const room = concurrency + queue - (own.at(-1)?.plan.limit === 'wide' ? slots : 0)
        expect(own.length, 'logins of one network that wait').toBeLessThanOrEqual(Math.ceil(room / 2))
      }
      if (waiting.some(hasRoom)) expect(holding().length, 'no slot is free while a login waits').toBe(slots)
      if (ready.length > 0) expect(hashing.length, 'no thread is free while a login is ready').toBe(concurrency)
      const load = { active: hashing.length, waiting: waiting.length + holding().length - hashing.length }
      expect(passwords.load(), 'the load that metrics see').toEqual(load)
      for (const { startedAt, hashAt } of logins) {
        if (hashAt === undefined) continue
        expect(hashAt - startedAt, 'a password check begins within 5 s').toBeLessThanOrEqual(TIMEOUT)
      }
    },
  }
}

const often = <T>(usual: T, ...rare: T[]) => fc.constantFrom(usual, usual, usual, usual, ...rare)
const plans = fc.record<Plan>({
  lookUp: often<Plan['lookUp']>('ends', 'fails', 'hangs'),
  hash: often<Plan['hash']>('ends', 'fails', 'hangs'),
  account: often<Plan['account']>('right password', 'wrong password', 'unknown'),
  limit: fc.constantFrom<Plan['limit']>('wide', 'one', 'other'),
})
const networks = fc.constantFrom('a', 'b', 'c', 'd')
const ORDINARY: Plan = { lookUp: 'ends', hash: 'ends', account: 'right password', limit: 'wide' }

/** Ends the pending calls one after the other, and the calls that follow. */
async function endAll({ lookUps, hashes, check }: Kit): Promise<void> {
  for (let next = lookUps.shift() ?? hashes.shift(); next; next = lookUps.shift() ?? hashes.shift()) {
    next.end()
    await settle()
    check()
  }
}

/** Ends some of the pending calls, from a random position on. */
function endCalls(name: string, listOf: (kit: Kit) => Pending[]) {
  return fc.tuple(fc.nat(40), fc.constantFrom(1, 1, 2, 10)).map(([from, count]) =>
    command<Kit>(`${name}: ${count} from ${from}`, async (kit) => {
      for (let i = 0; i < count; i++) {
        const list = listOf(kit)
        list.splice(from % list.length || 0, 1)[0]?.end()
        await settle()
        kit.check()
      }
    }),
  )
}

const commands = [
  fc
    .tuple(networks, plans)
    .map(([network, plan]) =>
      command<Kit>(`login of ${network} ${Object.values(plan)}`, (kit) => kit.logIn(network, plan)),
    ),
  fc
    .tuple(networks, fc.constantFrom(3, 40), fc.constantFrom<Plan['limit']>('wide', 'wide', 'one'))
    .map(([network, count, limit]) =>
      command<Kit>(`flood of ${count} logins of ${network}, limit ${limit}`, (kit) => {
        for (let i = 0; i < count; i++) kit.logIn(network, { ...ORDINARY, limit })
      }),
    ),
  endCalls('look-ups end', ({ lookUps }) => lookUps),
  endCalls('hashes end', ({ hashes }) => hashes),
  endCalls('hashes end', ({ hashes }) => hashes),
  fc.tuple(fc.nat(100), fc.constantFrom(1, 10)).map(([from, count]) =>
    command<Kit>(`disconnect ${count} from ${from}`, ({ logins, world }) => {
      const open = logins.filter(({ state, abortedAt }) => state !== 'has ended' && abortedAt === undefined)
      for (const one of open.slice(from % open.length || 0).slice(0, count)) {
        one.abortedAt = world.steady()
        one.connection.abort()
      }
    }),
  ),
  fc.constantFrom(1, 1000, 2500, 4999, 5000).map((ms) => command<Kit>(`pass ${ms} ms`, ({ world }) => world.pass(ms))),
]

describe('the login queue', () => {
  it.each([
    [1, 31 + 6],
    [2, 62 + 9],
  ])(
    '%i hashing threads and a queue of %i: shares are fair, no slot is lost, no check begins late',
    async (threads, queue) => {
      await runModel<Kit>({
        commands,
        maxCommands: 60,
        runs: 30,
        create: (world) => create(world, threads, queue),
        async finish(kit) {
          await endAll(kit)
          await kit.world.pass(3 * TIMEOUT)
          await endAll(kit)
          await kit.world.pass(LONGEST_HASH)
          await endAll(kit)
          expect(kit.logins.filter(({ outcome }) => outcome === undefined)).toEqual([])
          expect(kit.load()).toEqual({ active: 0, waiting: 0 })
        },
      })
    },
    TIME_LIMIT,
  )
})
