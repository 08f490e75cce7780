import { describe, expect, it } from 'vitest'
import { NO_REDIS, startRedis } from '../../support/services/redis.js'
import { type Counts, expectUse, type Left, leave, shapeOf } from './journeys.js'
import { BREAKING, freeze, NEWEST, RELEASES, read } from './releases.js'
import { type Keys, openKeys } from './stores.js'

interface Frozen {
  left: Left
  counts: Counts
  keys: Keys
}

/** Returns the shapes of keys and what they have, in an order that does not depend on random ids. */
const shapesOf = ({ left, counts, keys }: Frozen) => ({
  left: shapeOf(left),
  counts: shapeOf(counts),
  keys: Object.entries(keys)
    .map(([key, { set, ...value }]) => {
      const entries = set?.map((one, i) => (i % 2 === 0 ? [shapeOf(one), set[i + 1]].join(' at ') : '')).sort()
      return JSON.stringify([shapeOf(key), shapeOf(value), entries])
    })
    .sort(),
})

describe.skipIf(NO_REDIS)('keys of Redis', () => {
  it.each(RELEASES)('of %s work, with the tokens, cookies, codes and factors of their users', async (release) => {
    const { left, counts, keys } = read<Frozen>(release, 'redis')
    const { store } = await openKeys((await startRedis()).url, keys)
    await expectUse(store, counts, left)
  })

  it(`of this release have the shapes that ${NEWEST} reads`, async () => {
    const { store, dump } = await openKeys((await startRedis()).url)
    const counts: Counts = {}
    const left = await leave(store, counts)
    const made: Frozen = JSON.parse(JSON.stringify({ left, counts, keys: await dump() }))
    freeze('redis', made)
    expect(shapesOf(made), BREAKING).toEqual(shapesOf(read(NEWEST, 'redis')))
  })
})
