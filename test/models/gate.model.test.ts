// Not the global, because the queue does not use it either.
import { setImmediate } from 'node:timers'
import type { AuthError } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { Source } from '../../src/concurrency/fair-queue.js'
import { createGate, type Leave } from '../../src/concurrency/gate.js'
import { createTurnQueue } from '../../src/concurrency/turn-queue.js'
import { createRounds } from './rounds.js'
import { commandsOf, itHolds, often, type World } from './world.js'

const LIMITS = { total: 7, perNetwork: 4, perConnection: 3 }
const QUEUE = { total: 21, perNetwork: 12, perConnection: 6 }
const PER_TURN = 8
const CONNECTIONS = [undefined, {}, {}, {}, {}]

const sources = fc.record<Source>({
  network: fc.constantFrom('a', 'b', 'c'),
  connection: fc.constantFrom(...CONNECTIONS),
})
const nameOf = ({ network, connection }: Source) => `${network} ${CONNECTIONS.indexOf(connection as object)}`
const turn = () => new Promise(setImmediate)

/** A call of the host, which counts until it ends. */
interface HostCall {
  readonly source: Source
  readonly id: number
  readonly end: (how: 'ends' | 'fails') => void
  /** True when the client has its response already. */
  hasResponse: boolean
}

const limited = (world: World) => ({
  world,
  limit: createGate(LIMITS).run,
  running: [] as HostCall[],
  responses: [] as string[],
  asked: 0,
})
type LimitKit = ReturnType<typeof limited>

async function ask(kit: LimitKit, source: Source): Promise<void> {
  const { limit, running, responses, world } = kit
  const id = kit.asked++
  const ofConnection = running.filter((call) => source.connection && call.source.connection === source.connection)
  const ofNetwork = running.filter((call) => call.source.network === source.network)
  const isPipelined = ofConnection.length >= LIMITS.perConnection
  const mustStart = !isPipelined && ofNetwork.length < Math.min(LIMITS.perNetwork, LIMITS.total - running.length)
  let started = false
  const task = () => {
    started = true
    return new Promise<string>((resolve, reject) => {
      const end: HostCall['end'] = (how) => (how === 'ends' ? resolve('ends') : reject(new Error('fails')))
      running.push({ source, id, end, hasResponse: false })
    })
  }
  limit(source, task).then(
    (result) => responses.push(`${id} ${result}`),
    ({ code, message }: AuthError) => responses.push(`${id} ${code ?? message}`),
  )
  await Promise.resolve()
  world.must(started === mustStart, 'a call of the host counts until it ends, and the limits hold')
  const refused = isPipelined ? [...ofConnection.filter((call) => !call.hasResponse).map((call) => call.id), id] : [id]
  if (isPipelined) for (const call of ofConnection) call.hasResponse = true
  await turn()
  const expected = mustStart ? [] : refused.map((one) => `${one} overloaded`).sort()
  expect(responses.splice(0).sort(), 'each waiting request of a connection above its limit gets 503').toEqual(expected)
}

async function end({ running, responses }: LimitKit, at: number, how: 'ends' | 'fails'): Promise<void> {
  const [call] = running.splice(at % running.length, 1)
  call?.end(how)
  await turn()
  expect(responses.splice(0), 'the response is sent once').toEqual(call?.hasResponse ? [] : [`${call?.id} ${how}`])
}

const inTurns = (world: World) => ({
  world,
  wait: createTurnQueue(QUEUE),
  rounds: createRounds(),
  lanes: createRounds(),
  waiting: [] as Source[],
  continued: 0,
})
type TurnKit = ReturnType<typeof inTurns>

const networksOf = (list: Source[]) => new Set(list.map(({ network }) => network))
const lanesOf = (list: Source[], network: string) => new Set(list.filter((one) => one.network === network).map(nameOf))

async function enqueue(kit: TurnKit, given: Source): Promise<void> {
  const { wait, world, waiting } = kit
  const source = { ...given }
  const promise = wait(() => source)
  if (!promise) {
    world.must(waiting.length === 0, 'no request overtakes those that wait')
    kit.continued++
    return
  }
  kit.waiting = [...waiting, source]
  try {
    await promise
    const { network } = source
    world.must(kit.rounds.serve(network, networksOf(kit.waiting)), 'networks take turns')
    world.must(kit.lanes.serve(nameOf(source), lanesOf(kit.waiting, network)), 'connections of a network take turns')
    kit.continued++
  } catch (error) {
    world.must((error as AuthError).code === 'overloaded', 'a request that cannot wait gets 503')
  }
  kit.waiting = kit.waiting.filter((one) => one !== source)
}

/** Few may be inside, so that items wait for their connection while others enter. */
const INSIDE = { total: 4, perConnection: 2 }

const waiting = (world: World) => ({
  world,
  gate: createGate(INSIDE, { queue: QUEUE }),
  inside: [] as { source: Source; leave: Leave }[],
  waiting: [] as Source[],
  dropped: new Set<Source>(),
})
type GateKit = ReturnType<typeof waiting>

const ofConnection = (list: Source[], { connection }: Source) =>
  connection ? list.filter((one) => one.connection === connection).length : 0
const insideOf = (kit: GateKit) => kit.inside.map(({ source }) => source)
const mayEnter = (kit: GateKit, source: Source) =>
  kit.inside.length < INSIDE.total && ofConnection(insideOf(kit), source) < INSIDE.perConnection

async function enter(kit: GateKit, given: Source): Promise<void> {
  const source = { ...given }
  const { world } = kit
  kit.waiting.push(source)
  // A connection that pipelines too many items loses all of them.
  const isPipelining = ofConnection(kit.waiting, source) > QUEUE.perConnection
  for (const one of kit.waiting) if (isPipelining && one.connection === source.connection) kit.dropped.add(one)
  try {
    const leave = await kit.gate.enter({ source })
    world.must(mayEnter(kit, source), 'the limits hold, in total and for one connection')
    kit.inside.push({ source, leave })
  } catch (error) {
    const isAllowed = kit.dropped.has(source) || kit.waiting.length > QUEUE.perNetwork
    world.must((error as AuthError).code === 'overloaded' && isAllowed, 'only an item above a limit is refused')
  }
  kit.waiting = kit.waiting.filter((one) => one !== source)
}

const whenWaiting = commandsOf<GateKit>()
const whenLimited = commandsOf<LimitKit>()
const whenInTurns = commandsOf<TurnKit>()

describe('the gate', () => {
  itHolds('an item enters as soon as there is room for it, whatever else waits', {
    commands: [
      ...often(
        2,
        whenWaiting('item of', sources, async (kit, source) => {
          void enter(kit, source)
          await turn()
        }),
      ),
      whenWaiting(
        'an item leaves',
        fc.nat(20),
        async (kit, at) => {
          const [left] = kit.inside.splice(at % kit.inside.length, 1)
          left?.leave()
          left?.leave()
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
            kit.waiting.filter((one) => mayEnter(kit, one)),
            'items that wait although there is room',
          ).toEqual([])
          expect([kit.gate.inside, kit.gate.waiting]).toEqual([kit.inside.length, kit.waiting.length])
        },
      })
    },
    async finish(kit) {
      while (kit.inside.length > 0) {
        kit.inside.pop()?.leave()
        await turn()
      }
      expect([kit.waiting, kit.gate.inside]).toEqual([[], 0])
    },
  })

  itHolds(
    'a call of the host counts until it ends, and a connection above its limit loses its waiting requests at once',
    {
      commands: [
        ...often(2, whenLimited('call of', sources, ask)),
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
    },
  )

  itHolds(
    'at most 8 requests continue in one turn, networks and their connections take turns, and nobody waits for ever',
    {
      commands: [
        whenInTurns(
          'requests of',
          fc.array(sources, { minLength: 1, maxLength: 30, size: 'max' }),
          async (kit, list) => {
            const { world } = kit
            for (const source of list) void enqueue(kit, source)
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
    },
  )
})
