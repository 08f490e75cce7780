// Not the global, because the queue does not use it either.
import { setImmediate } from 'node:timers'
import type { AuthError } from 'express-token-endpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHostCallLimit } from '../../src/http/shared/host-call-limit.js'
import { createTurnQueue } from '../../src/http/shared/turn-queue.js'
import type { Source } from '../../src/shared/queues/fair-queue.js'
import { createRounds } from './rounds.js'
import { command, runModel, TIME_LIMIT, type World } from './world.js'

const LIMITS = { total: 7, perNetwork: 4, perConnection: 3 }
const PER_TURN = 8
const CONNECTIONS = [undefined, {}, {}, {}, {}]

const sources = fc.record<Source>({
  network: fc.constantFrom('a', 'b', 'c'),
  connection: fc.constantFrom(...CONNECTIONS),
})
const nameOf = ({ network, connection }: Source) => `${network} ${CONNECTIONS.indexOf(connection as object)}`

/** A call of the host, which counts until it ends. */
interface HostCall {
  readonly source: Source
  readonly id: number
  readonly end: (how: 'ends' | 'fails') => void
  /** True when the client has its response already. */
  hasResponse: boolean
}

interface LimitKit {
  readonly world: World
  readonly limit: ReturnType<typeof createHostCallLimit>
  running: HostCall[]
  readonly responses: string[]
  asked: number
}

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
  await new Promise(setImmediate)
  const expected = mustStart ? [] : refused.map((one) => `${one} overloaded`).sort()
  expect(responses.splice(0).sort(), 'each waiting request of a connection above its limit gets 503').toEqual(expected)
}

async function end({ running, responses }: LimitKit, at: number, how: 'ends' | 'fails'): Promise<void> {
  const [call] = running.splice(at % running.length, 1)
  call?.end(how)
  await new Promise(setImmediate)
  expect(responses.splice(0), 'the response is sent once').toEqual(call?.hasResponse ? [] : [`${call?.id} ${how}`])
}

interface TurnKit {
  readonly world: World
  readonly wait: ReturnType<typeof createTurnQueue>
  readonly rounds: ReturnType<typeof createRounds>
  readonly lanes: ReturnType<typeof createRounds>
  waiting: Source[]
  continued: number
}

const networksOf = (list: Source[]) => new Set(list.map(({ network }) => network))
const lanesOf = (list: Source[], network: string) => new Set(list.filter((one) => one.network === network).map(nameOf))

function enqueue(kit: TurnKit, given: Source): void {
  const { wait, world } = kit
  const source = { ...given }
  const others = kit.waiting
  const promise = wait(() => source)
  if (!promise) {
    world.must(others.length === 0, 'no request overtakes those that wait')
    kit.continued++
    return
  }
  kit.waiting = [...others, source]
  const leave = () => {
    kit.waiting = kit.waiting.filter((one) => one !== source)
  }
  promise.then(
    () => {
      const { network } = source
      world.must(kit.rounds.serve(network, networksOf(kit.waiting)), 'networks take turns')
      world.must(kit.lanes.serve(nameOf(source), lanesOf(kit.waiting, network)), 'connections of a network take turns')
      kit.continued++
      leave()
    },
    ({ code }: AuthError) => {
      world.must(code === 'overloaded', 'a request that cannot wait gets 503')
      leave()
    },
  )
}

describe('queues of requests', () => {
  it(
    'a call of the host counts until it ends, and a connection above its limit loses its waiting requests at once',
    async () => {
      await runModel<LimitKit>({
        commands: [
          ...[1, 2].map(() =>
            sources.map((source) => command<LimitKit>(`call of ${nameOf(source)}`, (kit) => ask(kit, source))),
          ),
          fc.tuple(fc.nat(20), fc.constantFrom(...(['ends', 'fails'] as const))).map(([at, how]) =>
            command<LimitKit>(
              `call ${at} ${how}`,
              (kit) => end(kit, at, how),
              ({ running }) => running.length > 0,
            ),
          ),
        ],
        maxCommands: 60,
        runs: 40,
        create: (world) => ({ world, limit: createHostCallLimit(LIMITS), running: [], responses: [], asked: 0 }),
        async finish(kit) {
          while (kit.running.length > 0) await end(kit, 0, 'ends')
        },
      })
    },
    TIME_LIMIT,
  )

  it(
    'at most 8 requests continue in one turn, networks and their connections take turns, and nobody waits for ever',
    async () => {
      await runModel<TurnKit>({
        commands: [
          fc.array(sources, { minLength: 1, maxLength: 30, size: 'max' }).map((list) =>
            command<TurnKit>(`requests of ${list.map(nameOf)}`, async (kit) => {
              const { world } = kit
              for (const source of list) enqueue(kit, source)
              // The promises of refused requests settle before the next turn.
              for (let i = 0; i < 5; i++) await Promise.resolve()
              world.must(kit.waiting.length <= LIMITS.total * 3, 'the limit of waiting requests holds')
              for (let turn = 0; turn < 2; turn++) {
                kit.rounds.wait(networksOf(kit.waiting))
                kit.continued = 0
                await new Promise(setImmediate)
                world.must(kit.continued <= PER_TURN, 'at most 8 requests continue in one turn')
              }
            }),
          ),
        ],
        maxCommands: 30,
        runs: 40,
        create(world) {
          const wait = createTurnQueue({ total: LIMITS.total * 3, perNetwork: 12, perConnection: 6 })
          return { world, wait, rounds: createRounds(), lanes: createRounds(), waiting: [], continued: 0 }
        },
        async finish(kit) {
          for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
          expect(kit.waiting).toEqual([])
        },
      })
    },
    TIME_LIMIT,
  )
})
