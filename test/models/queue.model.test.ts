// Not the global, because the queue does not use it either.
import { setImmediate } from 'node:timers'
import type { AuthError } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { limitTasks } from '../../src/concurrency/limit.js'
import { createQueue, type Leave } from '../../src/concurrency/queue.js'
import { createTurnQueue } from '../../src/concurrency/turn-queue.js'
import { createRounds } from './rounds.js'
import { commandsOf, itHolds, often, type World } from './world.js'

const LIMITS = { total: 7, perNetwork: 3 }
const QUEUE = { total: 21, perNetwork: 12 }
const PER_TURN = 8
const PER_CONNECTION = 6
const CONNECTIONS = [{}, {}, {}]

const networks = fc.constantFrom('a', 'b', 'c')
const turn = () => new Promise(setImmediate)

/** A call of the host, which counts until it ends. */
interface HostCall {
  readonly network: string
  readonly id: number
  readonly end: (how: 'ends' | 'fails') => void
}

const limited = (world: World) => ({
  world,
  limit: limitTasks(LIMITS),
  running: [] as HostCall[],
  responses: [] as string[],
  asked: 0,
})
type LimitKit = ReturnType<typeof limited>

async function ask(kit: LimitKit, network: string): Promise<void> {
  const { limit, running, responses, world } = kit
  const id = kit.asked++
  const ofNetwork = running.filter((call) => call.network === network)
  const mustStart = ofNetwork.length < Math.min(LIMITS.perNetwork, LIMITS.total - running.length)
  let started = false
  const task = () => {
    started = true
    return new Promise<string>((resolve, reject) => {
      const end: HostCall['end'] = (how) => (how === 'ends' ? resolve('ends') : reject(new Error('fails')))
      running.push({ network, id, end })
    })
  }
  limit(network, task).then(
    (result) => responses.push(`${id} ${result}`),
    ({ code, message }: AuthError) => responses.push(`${id} ${code ?? message}`),
  )
  await turn()
  world.must(started === mustStart, 'a call of the host counts until it ends, and the limits hold')
  expect(responses.splice(0), 'a call without room gets 503').toEqual(mustStart ? [] : [`${id} overloaded`])
}

async function end({ running, responses }: LimitKit, at: number, how: 'ends' | 'fails'): Promise<void> {
  const [call] = running.splice(at % running.length, 1)
  call?.end(how)
  await turn()
  expect(responses.splice(0), 'the response is sent once').toEqual([`${call?.id} ${how}`])
}

/** A request that waits. */
interface Waiting {
  readonly network: string
  readonly connection?: object
}

const inTurns = (world: World) => ({
  world,
  wait: createTurnQueue({ ...QUEUE, perConnection: PER_CONNECTION }),
  rounds: createRounds(),
  waiting: [] as Waiting[],
  continued: 0,
})
type TurnKit = ReturnType<typeof inTurns>

const networksOf = (list: Waiting[]) => new Set(list.map(({ network }) => network))

async function enqueue(kit: TurnKit, one: Required<Waiting>): Promise<void> {
  const { wait, world, waiting } = kit
  const { network, connection } = one
  const promise = wait(network, connection)
  if (!promise) {
    world.must(waiting.length === 0, 'no request overtakes those that wait')
    kit.continued++
    return
  }
  kit.waiting = [...waiting, one]
  const ofConnection = kit.waiting.filter((other) => other.connection === connection).length
  try {
    await promise
    world.must(ofConnection <= PER_CONNECTION, 'the limit of a connection holds')
    world.must(kit.rounds.serve(network, networksOf(kit.waiting)), 'networks take turns')
    kit.continued++
  } catch (error) {
    world.must((error as AuthError).code === 'overloaded', 'a request that cannot wait gets 503')
  }
  kit.waiting = kit.waiting.filter((other) => other !== one)
}

const SLOTS = 4

const waiting = (world: World) => ({
  world,
  queue: createQueue(SLOTS, QUEUE),
  rounds: createRounds(),
  inside: [] as Leave[],
  waiting: [] as Waiting[],
  /** Allows items of the network `c` to enter. */
  isOpen: true,
})
type QueueKit = ReturnType<typeof waiting>

const mayEnter = ({ inside, isOpen }: QueueKit, network: string) => inside.length < SLOTS && (isOpen || network !== 'c')
const servable = (kit: QueueKit) => networksOf(kit.waiting.filter(({ network }) => mayEnter(kit, network)))

async function enter(kit: QueueKit, network: string): Promise<void> {
  const one = { network }
  const { world } = kit
  kit.waiting.push(one)
  const admit = () => kit.isOpen || network !== 'c'
  try {
    const leave = await kit.queue.enter({ network, admit })
    world.must(mayEnter(kit, network), 'the limit holds')
    world.must(kit.rounds.serve(network, servable(kit)), 'networks take turns')
    kit.inside.push(leave)
  } catch (error) {
    const isCrowded =
      kit.waiting.length > QUEUE.total || kit.waiting.filter((two) => two.network === network).length > QUEUE.perNetwork
    const isAllowed = isCrowded || (kit.inside.length === 0 && !admit())
    world.must((error as AuthError).code === 'overloaded' && isAllowed, 'only an item that cannot wait is refused')
  }
  kit.waiting = kit.waiting.filter((other) => other !== one)
}

const whenWaiting = commandsOf<QueueKit>()
const whenLimited = commandsOf<LimitKit>()
const whenInTurns = commandsOf<TurnKit>()

describe('the queue', () => {
  itHolds('an item enters as soon as there is room for it, whatever else waits', {
    commands: [
      ...often(
        2,
        whenWaiting('item of', networks, async (kit, network) => {
          void enter(kit, network)
          await turn()
        }),
      ),
      whenWaiting('items of one network may enter', [true, false], async (kit, isOpen) => {
        kit.isOpen = isOpen
        kit.queue.serve()
        await turn()
      }),
      whenWaiting(
        'an item leaves',
        fc.nat(20),
        async (kit, at) => {
          const [left] = kit.inside.splice(at % kit.inside.length, 1)
          left?.()
          left?.()
          await turn()
        },
        ({ inside }) => inside.length > 0,
      ),
    ],
    maxCommands: 60,
    runs: 40,
    create: (world) => {
      const kit = waiting(world)
      return Object.assign(kit, {
        check() {
          expect(
            kit.waiting.filter(({ network }) => mayEnter(kit, network)),
            'items that wait although there is room',
          ).toEqual([])
          kit.rounds.wait(servable(kit))
          expect([kit.queue.active, kit.queue.waiting]).toEqual([kit.inside.length, kit.waiting.length])
        },
      })
    },
    async finish(kit) {
      while (kit.inside.length > 0) {
        kit.inside.pop()?.()
        await turn()
      }
      expect([kit.waiting, kit.queue.active]).toEqual([[], 0])
    },
  })

  itHolds('a call of the host counts until it ends, and no network uses up the calls of another', {
    commands: [
      ...often(2, whenLimited('call of', networks, ask)),
      whenLimited(
        'a call ends, or fails',
        fc.tuple(fc.nat(20), fc.constantFrom(...(['ends', 'fails'] as const))),
        (kit, [at, how]) => end(kit, at, how),
        ({ running }) => running.length > 0,
      ),
    ],
    maxCommands: 60,
    runs: 40,
    create: limited,
    async finish(kit) {
      while (kit.running.length > 0) await end(kit, 0, 'ends')
    },
  })

  itHolds('at most 8 requests continue in one turn, networks take turns, and nobody waits for ever', {
    commands: [
      whenInTurns(
        'requests of',
        fc.array(fc.record({ network: networks, connection: fc.constantFrom(...CONNECTIONS) }), {
          minLength: 1,
          maxLength: 30,
          size: 'max',
        }),
        async (kit, list) => {
          const { world } = kit
          for (const one of list) void enqueue(kit, { ...one })
          // The promises of refused requests settle before the next turn.
          for (let i = 0; i < 5; i++) await Promise.resolve()
          world.must(kit.waiting.length <= QUEUE.total, 'the limit of waiting requests holds')
          for (let i = 0; i < 2; i++) {
            kit.rounds.wait(networksOf(kit.waiting))
            kit.continued = 0
            await turn()
            world.must(kit.continued <= PER_TURN, 'at most 8 requests continue in one turn')
          }
        },
      ),
    ],
    maxCommands: 30,
    runs: 40,
    create: inTurns,
    async finish(kit) {
      for (let i = 0; i < 10; i++) await turn()
      expect(kit.waiting).toEqual([])
    },
  })
})
