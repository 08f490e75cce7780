import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFairQueue, type QueueLimits, type QueueSlot } from '../../../src/concurrency/fair-queue.js'

interface Item {
  readonly id: number
  readonly network: string
  slot?: QueueSlot<Item>
}

/** A simple model of the queue: a list, and a round of the waiting networks. */
class Model {
  items: Item[] = []
  networks: string[] = []
  readonly limits: QueueLimits
  constructor(limits: QueueLimits) {
    this.limits = limits
  }
  of = (network: string) => this.items.filter((item) => item.network === network)
  join(item: Item) {
    this.items.push(item)
    if (!this.networks.includes(item.network)) this.networks.push(item.network)
  }
  leave(item: Item) {
    this.items = this.items.filter((other) => other !== item)
    if (this.of(item.network).length === 0) this.networks = this.networks.filter((other) => other !== item.network)
  }
  take(fits: (item: Item) => boolean): Item | undefined {
    const item = this.networks.flatMap((network) => this.of(network)).find(fits)
    if (!item) return undefined
    const { network } = item
    this.leave(item)
    // A served network moves to the end of the round.
    if (this.networks.includes(network))
      this.networks = [...this.networks.filter((other) => other !== network), network]
    return item
  }
}

const networks = fc.constantFrom('a', 'b', 'c', 'd')

interface Real {
  readonly queue: ReturnType<typeof createFairQueue<Item>>
  readonly dropped: Item[]
  next: number
}

function add(model: Model, real: Real, network: string): void {
  const { limits } = model
  const item: Item = { id: real.next++, network }
  const own = model.of(network).length
  const slot = real.queue.add(network, item)
  if (slot) item.slot = slot
  const [dropped, ...more] = real.dropped.splice(0)
  expect(more).toEqual([])
  const isFull = model.items.length >= limits.total
  const most = Math.max(0, ...model.networks.map((other) => model.of(other).length))
  expect(slot !== undefined).toBe(own < limits.perNetwork && (!isFull || most > own + 1))
  // Drops the newest item of the largest network, and of several that which is served first.
  expect(dropped !== undefined).toBe(slot !== undefined && isFull)
  if (dropped) {
    const largest = model.networks.find((other) => model.of(other).length === most) as string
    expect(dropped).toBe(model.of(largest).at(-1))
    model.leave(dropped)
  }
  if (slot) model.join(item)
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
  networks.map((network) => (model: Model, real: Real) => add(model, real, network)),
  fc.constantFrom(1, 1, 2, 5).map((multipleOf) => (model: Model, real: Real) => take(model, real, multipleOf)),
  fc.nat(50).map((at) => (model: Model, real: Real) => remove(model, real, at)),
)

const upTo = (min: number, max: number) => fc.integer({ min, max })
const limits = fc.record({ total: upTo(0, 12), perNetwork: upTo(1, 8) })

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
    const queue = createFairQueue<Item>({ total: 9, perNetwork: 9 }, () => {})
    const slots = ['a', 'a', 'b', 'b'].map((network, id) => queue.add(network, { id, network }) as QueueSlot<Item>)
    const fits = ({ id }: Item) => id === 3 || !queue.remove(slots[id] as QueueSlot<Item>)
    expect(queue.take(fits)?.id).toBe(3)
    expect([queue.size, queue.take()]).toEqual([0, undefined])
  })

  it('takes an item once, also when the question removes it', () => {
    const queue = createFairQueue<Item>({ total: 9, perNetwork: 9 }, () => {})
    const slot = queue.add('a', { id: 0, network: 'a' }) as QueueSlot<Item>
    expect(queue.take(() => queue.remove(slot))?.id).toBe(0)
    expect([queue.size, queue.take(), slot.item]).toEqual([0, undefined, undefined])
  })
})
