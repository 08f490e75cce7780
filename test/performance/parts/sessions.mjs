import { alternately } from '../harness/alternately.mjs'
import { atLeast, spread } from '../harness/report.mjs'
import { fillStores, startStores } from '../harness/stores.mjs'
import { open } from './features.mjs'

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
  const { postgres, redis, env, people } = await startStores(20)
  await fillStores(env, STORED)
  const slices = { slice: 50, slices: 24, warmUp: 800, connections: 16 }
  const rows = await alternately(() => open({ node, env, people, postgres, redis }, FEATURES), { rounds, ...slices })
  const heads = [
    'µs of one core',
    'API',
    'PostgreSQL',
    'Redis',
    'responses in the same time of the API, to `isRevoked`',
  ]
  const compared = rows.filter((_, i) => FEATURES[i].path.startsWith('/sessions'))
  const shown = rows.map((row) => [
    row.name,
    ...['api', 'postgres', 'redis'].map((part) => spread(row.cpu[part])),
    compared.includes(row) ? spread(row.ratio) : '–',
  ])
  return {
    tables: [[heads, shown]],
    verdicts: compared.map(({ name, ratio }) => atLeast(name, ratio, TARGET)),
  }
}
