import { atLeast, spread } from '../harness/report.mjs'
import { fillStores, startStores } from '../harness/stores.mjs'
import { costs, heads, measure } from './features.mjs'

/** The sessions and the revoked tokens in each store. */
const STORED = 1_000_000

const FEATURES = [
  { path: '/guard', name: 'a guarded request' },
  { path: '/revocation-redis', base: '/guard', name: '`isRevoked`, in Redis' },
  { path: '/sessions-redis', base: '/revocation-redis', name: '`sessions`, in Redis' },
  { path: '/revocation-database', base: '/guard', name: '`isRevoked`, in PostgreSQL' },
  { path: '/sessions-database', base: '/revocation-database', name: '`sessions`, in PostgreSQL' },
]

/** The cost is then at most 1.1 times that of `isRevoked`. */
const TARGET = 0.91

export const title = `A guarded request with sessions compared with isRevoked, and ${STORED.toLocaleString('en')} entries in each store`

export async function run({ node, rounds }) {
  const stores = await startStores(20)
  await fillStores(stores.env, STORED)
  const rows = await measure(FEATURES, { node, stores, rounds, slice: 50, slices: 24, warmUp: 800, connections: 16 })
  const isCompared = ({ name }) => name.startsWith('`sessions`')
  return {
    tables: [
      [
        heads('`isRevoked`'),
        rows.map((row) => [...costs(row.name, row.cpu), isCompared(row) ? spread(row.ratio) : '–']),
      ],
    ],
    verdicts: rows.filter(isCompared).map(({ name, ratio }) => atLeast(name, ratio, TARGET)),
  }
}
