import { type AuthError, createPasswords, type Hasher } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { LimitsPort } from '../../src/limits/attempt.js'
import { logIn } from '../../src/login/log-in.js'
import type { QueuedPasswords } from '../../src/passwords/passwords.js'
import { createRounds } from './rounds.js'
import { commandsOf, itHolds, often, settle, type World } from './world.js'

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

type State = 'waits' | 'looks up' | 'is ready' | 'hashes' | 'has hashed' | 'has ended'
type OneLogin = ReturnType<typeof newLogin>

const newLogin = (id: number, network: string, plan: Plan, startedAt: number) => ({
  ...{ id, network, plan, startedAt, connection: new AbortController() },
  state: 'waits' as State,
  /** The parts of the login that have begun and have not ended. */
  ...{ isUnderWay: false, isLookedUp: false, isHashed: false },
  ...({} as Partial<Record<'lookUpAt' | 'lookedUpAt' | 'hashAt' | 'hashedAt' | 'abortedAt', number>>),
  outcome: undefined as string | undefined,
})

type Kit = ReturnType<typeof create>

function create(world: World, concurrency: number, queue: number) {
  const logins: OneLogin[] = []
  /** The calls that commands end. */
  const lookUps: (() => void)[] = []
  const hashes: (() => void)[] = []
  const slots = concurrency * SLOTS_PER_THREAD
  const rounds = { slots: createRounds(), threads: createRounds() }

  const inState = (state: State) => logins.filter((one) => one.state === state)
  const hasRoom = ({ plan: { limit } }: OneLogin) =>
    limit === 'wide' || logins.filter((one) => one.isUnderWay && one.plan.limit === limit).length < ROOM
  const networksOf = (list: OneLogin[]) => new Set(list.map(({ network }) => network))
  const loginOf = (text: string) => logins[Number(/\d+/.exec(text)?.[0])] as OneLogin
  const mustBeFair = (by: keyof typeof rounds, waits: State, { network }: OneLogin) => {
    const waiting = networksOf(inState(waits).filter((one) => waits !== 'waits' || hasRoom(one)))
    if (waiting.has(network)) world.must(rounds[by].serve(network, waiting), `networks take turns at the ${by}`)
  }

  function pendingIn(list: (() => void)[], how: 'ends' | 'fails' | 'hangs', isOver: () => void) {
    return new Promise<void>((resolve, reject) => {
      if (how === 'hangs') return
      list.push(() => {
        isOver()
        if (how === 'fails') reject(new Error('down'))
        else resolve()
      })
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
      await pendingIn(hashes, one.plan.hash, () => {
        one.isHashed = false
        if (one.state === 'hashes') Object.assign(one, { state: 'has hashed', hashedAt: world.steady() })
      })
      return hash === `hash of ${password}`
    },
  }
  const passwords = createPasswords({ hashers: [hasher], concurrency, queue }) as QueuedPasswords

  async function findByEmail(email: string) {
    const one = loginOf(email)
    mustBeFair('slots', 'waits', one)
    world.must(one.abortedAt === undefined, 'nothing is looked up for a client that has disconnected')
    Object.assign(one, { state: 'looks up', lookUpAt: world.steady(), isLookedUp: true })
    await pendingIn(lookUps, one.plan.lookUp, () => {
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
  const limits: LimitsPort = {
    checkAddress() {},
    attempt({ email }) {
      const one = loginOf(email)
      const end = () => {
        one.isUnderWay = false
      }
      return {
        check() {},
        begin() {
          one.isUnderWay ||= hasRoom(one)
          return one.isUnderWay
        },
        admit() {
          world.must(one.isUnderWay, 'an attempt is under way before its password is checked')
          return 'admitted'
        },
        end,
      }
    },
  }
  const dependencies = { accounts: { findByEmail }, passwords, limits, timeout: TIMEOUT, clock: Date.now }

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
    logins,
    lookUps,
    hashes,
    load: () => passwords.load(),
    logIn(network: string, plan: Plan): void {
      const one = newLogin(logins.length, network, plan, world.steady())
      const { connection } = one
      logins.push(one)
      const credentials = { email: `login-${one.id}@example.com`, password: `password ${one.id}` }
      const asking = { tenant: undefined, beforeSignIn: undefined, fields: {}, hasUnnamed: false, req: undefined }
      const origin = { address: network, network, signal: connection.signal, ...asking, dependencyFailed: () => {} }
      const settleAs = (code: string) => {
        mustBeAllowed(one, code)
        Object.assign(one, { state: 'has ended', outcome: code })
      }
      logIn({ ...dependencies, ...credentials, ...origin }).then(
        () => settleAs('admitted'),
        ({ code }: AuthError) => settleAs(code),
      )
    },
    check(): void {
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

const usually = <T>(usual: T, ...rare: T[]) => fc.constantFrom(...often(4, usual), ...rare)
const plans = fc.record<Plan>({
  lookUp: usually<Plan['lookUp']>('ends', 'fails', 'hangs'),
  hash: usually<Plan['hash']>('ends', 'fails', 'hangs'),
  account: usually<Plan['account']>('right password', 'wrong password', 'unknown'),
  limit: fc.constantFrom<Plan['limit']>('wide', 'one', 'other'),
})
const networks = fc.constantFrom('a', 'b', 'c', 'd')

/** Ends the pending calls one after the other, and the calls that follow. */
async function endAll({ lookUps, hashes, check }: Kit): Promise<void> {
  for (let next = lookUps.shift() ?? hashes.shift(); next; next = lookUps.shift() ?? hashes.shift()) {
    next()
    await settle()
    check()
  }
}

const when = commandsOf<Kit>()
/** Ends some of the pending calls, from a random position on. */
const whenEnd = (what: 'lookUps' | 'hashes') =>
  when(`end of ${what}`, fc.tuple(fc.nat(40), fc.constantFrom(1, 1, 2, 10)), async (kit, [from, count]) => {
    for (let i = 0; i < count; i++) {
      const list = kit[what]
      list.splice(from % list.length || 0, 1)[0]?.()
      await settle()
      kit.check()
    }
  })

const commands = [
  when('login of', fc.tuple(networks, plans), (kit, [network, plan]) => kit.logIn(network, plan)),
  when(
    'flood of logins of',
    fc.tuple(networks, fc.constantFrom(3, 40), fc.constantFrom<Plan['limit']>('wide', 'wide', 'one')),
    (kit, [network, count, limit]) => {
      const plan: Plan = { lookUp: 'ends', hash: 'ends', account: 'right password', limit }
      for (let i = 0; i < count; i++) kit.logIn(network, plan)
    },
  ),
  ...[whenEnd('lookUps'), whenEnd('hashes'), whenEnd('hashes')],
  when('disconnect', fc.tuple(fc.nat(100), fc.constantFrom(1, 10)), ({ logins, world }, [from, count]) => {
    const open = logins.filter(({ state, abortedAt }) => state !== 'has ended' && abortedAt === undefined)
    for (const one of open.slice(from % open.length || 0).slice(0, count)) {
      one.abortedAt = world.steady()
      one.connection.abort()
    }
  }),
  when('pass', [1, 1000, 2500, 4999, 5000], ({ world }, ms) => world.pass(ms)),
]

describe('the login queue', () => {
  for (const [threads, queue] of [
    [1, 31 + 6],
    [2, 62 + 9],
  ] as const) {
    itHolds(
      `${threads} hashing threads and a queue of ${queue}: shares are fair, no slot is lost, no check begins late`,
      {
        commands,
        maxCommands: 60,
        runs: 30,
        create: (world) => create(world, threads, queue),
        async finish(kit) {
          await endAll(kit)
          for (const ms of [3 * TIMEOUT, LONGEST_HASH]) {
            await kit.world.pass(ms)
            await endAll(kit)
          }
          expect(kit.logins.filter(({ outcome }) => outcome === undefined)).toEqual([])
          expect(kit.load()).toEqual({ active: 0, waiting: 0 })
        },
      },
    )
  }
})
