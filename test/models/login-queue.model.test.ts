import { type AuthError, createPasswords, type Hasher } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLogin, type Login } from '../../src/accounts/login.js'
import { createRounds } from './rounds.js'
import { command, runModel, settle, TIME_LIMIT, type World } from './world.js'

const TIMEOUT = 5000
const SLOTS_PER_THREAD = 32

/** The course of a login. */
interface Plan {
  readonly lookUp: 'ends' | 'fails' | 'hangs'
  readonly hash: 'ends' | 'fails' | 'hangs'
  readonly account: 'right password' | 'wrong password' | 'unknown'
}

interface OneLogin {
  readonly id: number
  readonly network: string
  readonly plan: Plan
  readonly startedAt: number
  readonly connection: AbortController
  state: 'waits' | 'looks up' | 'is ready' | 'hashes' | 'has hashed' | 'has ended'
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
  const places = concurrency + queue - slots
  const rounds = { slots: createRounds(), threads: createRounds() }

  const inState = (state: OneLogin['state']) => logins.filter((one) => one.state === state)
  const networksOf = (list: OneLogin[]) => new Set(list.map(({ network }) => network))
  const loginOf = (text: string) => logins[Number(/\d+/.exec(text)?.[0])] as OneLogin
  const mustBeFair = (by: keyof typeof rounds, waits: OneLogin['state'], { network }: OneLogin) => {
    const waiting = networksOf(inState(waits))
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
      Object.assign(one, { state: 'hashes', hashAt: world.steady() })
      await pendingIn(hashes, one, one.plan.hash, () => {
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
    Object.assign(one, { state: 'looks up', lookUpAt: world.steady() })
    await pendingIn(lookUps, one, one.plan.lookUp, () => {
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
  const login: Login = createLogin({ store, passwords, throttle: undefined, timeout: TIMEOUT })

  function mustBeAllowed(one: OneLogin, code: string): void {
    const { plan, startedAt, lookUpAt, lookedUpAt, hashAt, hashedAt } = one
    const now = world.steady()
    const waiting = inState('waits').filter((other) => other !== one)
    const ofNetwork = waiting.filter(({ network }) => network === one.network)
    const isCrowded = waiting.length >= places || ofNetwork.length >= Math.ceil(places / 2)
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
      const one: OneLogin = { id: logins.length, network, plan, startedAt: world.steady(), connection, state: 'waits' }
      logins.push(one)
      const source = { network, connection }
      const credentials = { email: `login-${one.id}@example.com`, password: `password ${one.id}` }
      const context = { address: network, source, signal: connection.signal, failed: () => {} }
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
      const [waiting, ready, hashing] = [inState('waits'), inState('is ready'), inState('hashes')]
      const holding = [...inState('looks up'), ...ready, ...hashing]
      rounds.slots.wait(networksOf(waiting))
      rounds.threads.wait(networksOf(ready))
      expect(hashing.length, 'passwords hashed at a time').toBeLessThanOrEqual(concurrency)
      expect(holding.length, 'logins that look up their account').toBeLessThanOrEqual(slots)
      expect(waiting.length, 'logins that wait').toBeLessThanOrEqual(places)
      for (const network of networksOf(waiting)) {
        const own = waiting.filter((one) => one.network === network)
        expect(own.length, 'logins of one network that wait').toBeLessThanOrEqual(Math.ceil(places / 2))
      }
      if (waiting.length > 0) expect(holding.length, 'no slot is free while a login waits').toBe(slots)
      if (ready.length > 0) expect(hashing.length, 'no thread is free while a login is ready').toBe(concurrency)
      const load = { active: hashing.length, waiting: waiting.length + holding.length - hashing.length }
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
})
const networks = fc.constantFrom('a', 'b', 'c', 'd')
const ORDINARY: Plan = { lookUp: 'ends', hash: 'ends', account: 'right password' }

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
  fc.tuple(networks, fc.constantFrom(3, 40)).map(([network, count]) =>
    command<Kit>(`flood of ${count} logins of ${network}`, (kit) => {
      for (let i = 0; i < count; i++) kit.logIn(network, ORDINARY)
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
          expect(kit.logins.filter(({ outcome }) => outcome === undefined)).toEqual([])
          expect(kit.load()).toEqual({ active: 0, waiting: 0 })
        },
      })
    },
    TIME_LIMIT,
  )
})
