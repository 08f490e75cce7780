import { bearer, login } from '../../support/plain-js/http-client.mjs'
import { alternately } from '../harness/alternately.mjs'
import { startServer } from '../harness/processes.mjs'
import { spread } from '../harness/report.mjs'
import { startStores } from '../harness/stores.mjs'

/**
 * The features of a host: routes of feature-server.mjs, with what each adds to its base. A feature without a base is a whole request.
 */
const FEATURES = [
  { path: '/guard', name: 'a guarded request' },
  { path: '/accounts', base: '/guard', name: '+ `accounts`, in PostgreSQL' },
  { path: '/revocation-redis', base: '/guard', name: '+ `isRevoked`, in Redis' },
  { path: '/revocation-database', base: '/guard', name: '+ `isRevoked`, in PostgreSQL' },
  { path: '/login', name: 'a login without the hash, `accounts` in PostgreSQL' },
  { path: '/hash', base: '/login', name: '+ the argon2id hash' },
  { path: '/limits-redis', base: '/login', name: '+ failed-login limits in Redis instead of memory' },
]
const SLICES = { connections: 16, slice: 250, slices: 4, warmUp: 800 }

export const title =
  'The cost of features: microseconds of processor time for each request, in the API and in the stores'

export async function run({ node, rounds }) {
  const stores = await startStores(20)
  const rows = await measure(FEATURES, { node, stores, rounds, ...SLICES })
  const isWhole = ({ name }) => FEATURES.some((feature) => feature.name === name && !feature.base)
  const shown = rows.map((row) =>
    isWhole(row) ? [...costs(row.name, row.cpu), '–'] : [...costs(row.name, row.more), spread(row.ratio)],
  )
  return { tables: [[heads('without'), shown]] }
}

export const heads = (base) => [
  ...['µs of one core', 'API', 'PostgreSQL', 'Redis'],
  `responses in the same time of the API, to ${base}`,
]
export const costs = (name, cpu) => [name, ...['api', 'postgres', 'redis'].map((part) => spread(cpu[part]))]

/** Measures features in turn, with the processor time of the API and of the stores. */
export function measure(features, { node, stores: { postgres, redis, env, people }, ...options }) {
  const nameOf = (path) => features.find((feature) => feature.path === path).name
  return alternately(async () => {
    const { side, pid, tokens, stop } = await startServer('feature-server.mjs', { env, node })
    const programs = { api: () => [pid], postgres: postgres.pids, redis: () => [redis.process().pid] }
    const requestsOf = (path, kind) =>
      kind === '/login'
        ? people.map(({ email, password }) => login(email, password, undefined, path))
        : tokens.map((token) => bearer(token, path))
    const sides = features.map(({ path, base = path, name }) => ({
      ...side(name, requestsOf(path, base)),
      base: nameOf(base),
      programs,
    }))
    return { sides, close: stop }
  }, options)
}
