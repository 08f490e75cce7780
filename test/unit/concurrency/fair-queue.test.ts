import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFairQueue, type QueueLimits, type QueueSlot, type Source } from '../../../src/concurrency/fair-queue.js'

interface Item {
  readonly id: number
  readonly source: Source
  slot?: QueueSlot<Item>
}

/** A simple model of the queue: lists, and a round of the waiting networks. */
class Model {
  items: Item[] = []
  networks: string[] = []
  connections = new Map<string, (object | undefined)[]>()
  readonly limits: QueueLimits
  constructor(limits: QueueLimits) {
    this.limits = limits
  }
  of = (network: string) => this.items.filter(({ source }) => source.network === network)
  lane = ({ network, connection }: Source) => this.of(network).filter(({ source }) => source.connection === connection)
  join({ network, connection }: Source) {
    if (!this.networks.includes(network)) this.networks.push(network)
    const round = this.connections.get(network) ?? []
    if (!round.includes(connection)) round.push(connection)
    this.connections.set(network, round)
  }
  leave(item: Item) {
    this.items = this.items.filter((other) => other !== item)
    const { network, connection } = item.source
    if (this.lane(item.source).length === 0) {
      const others = (this.connections.get(network) ?? []).filter((other) => other !== connection)
      this.connections.set(network, others)
    }
    if (this.of(network).length === 0) this.networks = this.networks.filter((other) => other !== network)
  }
  /** Returns the first items of all connections, in the order of the round. */
  heads = () =>
    this.networks.flatMap((network) =>
      (this.connections.get(network) ?? []).map((connection) => this.lane({ network, connection })[0] as Item),
    )
  take(fits: (item: Item) => boolean): Item | undefined {
    const item = this.heads().find(fits)
    if (!item) return undefined
    const { network, connection } = item.source
    this.leave(item)
    // A served network moves to the end of the round.
    if (this.networks.includes(network))
      this.networks = [...this.networks.filter((other) => other !== network), network]
    const round = this.connections.get(network) ?? []
    if (round.includes(connection))
      this.connections.set(network, [...round.filter((other) => other !== connection), connection])
    return item
  }
}

const CONNECTIONS = [undefined, {}, {}, {}]
const sources = fc.record({
  network: fc.constantFrom('a', 'b', 'c', 'd'),
  connection: fc.constantFrom(...CONNECTIONS),
})

interface Real {
  readonly queue: ReturnType<typeof createFairQueue<Item>>
  readonly dropped: Item[]
  next: number
}

function add(model: Model, real: Real, source: Source): void {
  const { limits } = model
  const item: Item = { id: real.next++, source }
  const own = model.of(source.network).length
  const slot = real.queue.add(source, item)
  if (slot) item.slot = slot
  const waiting = model.items.filter((one) => source.connection && one.source.connection === source.connection)
  if (waiting.length >= limits.perConnection) {
    expect(slot).toBeUndefined()
    expect(real.dropped.splice(0)).toEqual(waiting)
    for (const one of waiting) model.leave(one)
    return
  }
  const [dropped, ...more] = real.dropped.splice(0)
  expect(more).toEqual([])
  const isFull = model.items.length >= limits.total
  const most = Math.max(0, ...model.networks.map((network) => model.of(network).length))
  expect(slot !== undefined).toBe(own < limits.perNetwork && (!isFull || most > own + 1))
  // Drops the newest item of the largest connection of the largest network.
  expect(dropped !== undefined).toBe(slot !== undefined && isFull)
  if (dropped) {
    const { network } = dropped.source
    expect(model.of(network)).toHaveLength(most)
    const connections = model.connections.get(network) ?? []
    const lengths = connections.map((connection) => model.lane({ network, connection }).length)
    expect(model.lane(dropped.source)).toHaveLength(Math.max(...lengths))
    expect(model.lane(dropped.source).at(-1)).toBe(dropped)
    model.leave(dropped)
  }
  if (!slot) return
  model.items.push(item)
  model.join(source)
}

/** Takes the next item, or the next one whose id is a multiple. */
function take(model: Model, { queue }: Real, multipleOf: number): void {
  const fits = ({ id }: Item) => id % multipleOf === 0
  expect(multipleOf === 1 ? queue.take() : queue.take(fits)).toBe(model.take(fits))
}

function remove(model: Model, { queue }: Real, at: number): void {
  const item = model.items[at % model.items.length]
  if (!item) return
  const slot = item.slot as QueueSlot<Item>
  expect([queue.remove(slot), queue.remove(slot)]).toEqual([true, false])
  model.leave(item)
}

const steps = fc.oneof(
  sources.map((source) => (model: Model, real: Real) => add(model, real, source)),
  fc.constantFrom(1, 1, 2, 5).map((multipleOf) => (model: Model, real: Real) => take(model, real, multipleOf)),
  fc.nat(50).map((at) => (model: Model, real: Real) => remove(model, real, at)),
)

const upTo = (min: number, max: number) => fc.integer({ min, max })
const limits = fc.record({ total: upTo(0, 12), perNetwork: upTo(1, 8), perConnection: upTo(1, 5) })

describe('the fair queue', () => {
  it('does what its model does, whatever is added, taken and removed', () => {
    fc.assert(
      fc.property(limits, fc.array(steps, { maxLength: 200, size: '+1' }), (given, run) => {
        const dropped: Item[] = []
        const real = { queue: createFairQueue<Item>(given, (item) => dropped.push(item)), dropped, next: 0 }
        const model = new Model(given)
        for (const step of run) {
          step(model, real)
          expect(real.queue.size).toBe(model.items.length)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('takes the next item that fits, also when the question removes the items that do not', () => {
    const queue = createFairQueue<Item>({ total: 9, perNetwork: 9, perConnection: 9 }, () => {})
    const slots = ['a', 'a', 'b', 'b'].map((network, id) => {
      const source = { network, connection: network === 'a' ? {} : undefined }
      return queue.add(source, { id, source }) as QueueSlot<Item>
    })
    const fits = ({ id }: Item) => id === 3 || !queue.remove(slots[id] as QueueSlot<Item>)
    expect(queue.take(fits)?.id).toBe(3)
    expect([queue.size, queue.take()]).toEqual([0, undefined])
  })

  it('serves a connection that comes again after those that have come in the meantime', () => {
    const queue = createFairQueue<{ name: string }>({ total: 9, perNetwork: 9, perConnection: 9 }, () => {})
    const connections: Record<string, object> = { a: {}, b: {}, c: {} }
    const add = (name: string) => queue.add({ network: 'one', connection: connections[name] }, { name })
    for (const name of 'ab') add(name)
    expect(queue.take()).toEqual({ name: 'a' })
    for (const name of 'ca') add(name)
    expect([queue.take(), queue.take(), queue.take()]).toEqual([{ name: 'b' }, { name: 'c' }, { name: 'a' }])
  })

  it('drops the newest item of the network and of the connection that are served first, when several have the most', () => {
    const dropped: string[] = []
    const queue = createFairQueue<{ name: string }>({ total: 4, perNetwork: 9, perConnection: 9 }, ({ name }) => {
      dropped.push(name)
    })
    const [first, second] = [{}, {}]
    for (const network of ['one', 'two']) {
      queue.add({ network, connection: first }, { name: `${network}, first` })
      queue.add({ network, connection: second }, { name: `${network}, second` })
    }
    queue.add({ network: 'three', connection: undefined }, { name: 'three' })
    expect(dropped).toEqual(['one, first'])
  })

  it('drops each item of a connection once, also when a drop removes another of them', () => {
    const connection = {}
    const dropped: Item[] = []
    const slots: (QueueSlot<Item> | undefined)[] = []
    const queue = createFairQueue<Item>({ total: 9, perNetwork: 9, perConnection: 2 }, (item) => {
      dropped.push(item)
      for (const slot of slots) if (slot) queue.remove(slot)
    })
    const source = { network: 'a', connection }
    for (const id of [1, 2, 3]) slots.push(queue.add(source, { id, source }))
    expect(dropped).toEqual([{ id: 1, source }])
    expect(queue.size).toBe(0)
  })
})
