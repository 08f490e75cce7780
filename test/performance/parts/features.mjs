import { bearer, login } from '../../support/plain-js/http-client.mjs'
import { alternately } from '../harness/alternately.mjs'
import { SERVER_CORE, start } from '../harness/processes.mjs'
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
  { path: '/throttle-redis', base: '/login', name: '+ failed-login limits in Redis instead of memory' },
]

const SLICES = { connections: 16, slice: 250, slices: 4, warmUp: 800 }

export const title =
  'The cost of features: microseconds of processor time for each request, in the API and in the stores'

export async function run({ node, rounds }) {
  const { postgres, redis, env, people } = await startStores(20)
  const rows = await alternately(() => open({ node, env, people, postgres, redis }), { rounds, ...SLICES })
  const programs = ['api', 'postgres', 'redis']
  const shown = rows.map(({ name, cpu, more, ratio }, i) => {
    const { base } = FEATURES[i]
    return [name, ...programs.map((part) => spread(base ? more[part] : cpu[part])), base ? spread(ratio) : '–']
  })
  return {
    tables: [
      [['µs of one core', 'API', 'PostgreSQL', 'Redis', 'responses in the same time of the API, to without'], shown],
    ],
  }
}

export async function open({ node, env, people, postgres, redis }, features = FEATURES) {
  const { pid, first, stop } = await start('feature-server.mjs', { env, node, core: SERVER_CORE })
  const programs = { api: () => [pid], postgres: postgres.pids, redis: () => [redis.process().pid] }
  const guarded = (path) => first.tokens.map((token) => bearer(token, path))
  const requests = {
    '/guard': guarded,
    '/revocation-redis': guarded,
    '/revocation-database': guarded,
    '/login': (path) => people.map(({ email, password }) => login(email, password, undefined, path)),
  }
  const nameOf = (path) => features.find((feature) => feature.path === path).name
  const sides = features.map(({ path, base = path, name }) => ({
    name,
    base: nameOf(base),
    port: first.port,
    requests: requests[base](path),
    programs,
  }))
  return { sides, close: stop }
}
