import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../../support/services/servers/free-port.mjs'
import { HAS_NGINX, HOW_TO_GET_NGINX, nginxServer } from '../../support/services/servers/nginx-server.mjs'
import { HAS_POSTGRES, HOW_TO_GET_POSTGRES, postgresServer } from '../../support/services/servers/postgres-server.mjs'
import { HAS_REDIS, HOW_TO_GET_REDIS, redisServer } from '../../support/services/servers/redis-server.mjs'
import { atEnd, start, tempDir } from '../harness/processes.mjs'
import { addPeople, signedIn } from './people.mjs'
import { REPORT_PATH } from './traffic.mjs'

const example = (file) => fileURLToPath(new URL(`../../../example-app/dist/${file}.js`, import.meta.url))
const { PATH } = process.env
const START_MS = 60_000

/** Starts PostgreSQL and Redis for the example app, and adds accounts. Returns them with the variables of the app. */
async function startStores(count) {
  if (!HAS_POSTGRES) throw new Error(`PostgreSQL is missing. ${HOW_TO_GET_POSTGRES}`)
  if (!HAS_REDIS) throw new Error(`redis-server is missing. ${HOW_TO_GET_REDIS}`)
  // The defaults of PostgreSQL, which the tests reduce.
  const postgres = await postgresServer({ settings: ['shared_buffers=128MB', 'max_connections=200'] })
  atEnd(() => postgres.remove())
  await postgres.start()
  // A log on disk, so that Redis keeps its data when it is killed.
  const redis = await redisServer({ dir: await tempDir(), fsync: 'everysec' })
  atEnd(() => redis.kill())
  await redis.start()
  const env = {
    PATH,
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: 'http://localhost:3000',
    TRUSTED_PROXIES: '1',
  }
  return { postgres, redis, env, people: await addPeople(env.DATABASE_URL, count) }
}

/** Starts one clearing-house API of the built example, and waits until it is ready. */
async function startApi(node, env, port) {
  const child = spawn(node, [example('main'), 'clearing-house'], {
    env: { ...env, PORT: `${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      log += text
    })
  }
  const exited = once(child, 'exit')
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  async function stop(signal = 'SIGTERM') {
    if (isGone()) return
    child.kill(signal)
    await exited
  }
  atEnd(stop)
  const until = performance.now() + START_MS
  while ((await statusOf(port)) !== 200) {
    if (isGone() || performance.now() > until) throw new Error(`an API did not start:\n${log}`)
    await sleep(50)
  }
  return { port, log: () => log, stop }
}

const statusOf = (port) =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status,
    () => undefined,
  )

/**
 * Starts processes of the clearing-house API behind nginx, with accounts in their database.
 * @param options `size` is the number of processes, and `people` the number of accounts. With `reporting`, the options of `remoteKeys`,
 *   another service runs behind the same nginx
 * @returns `ports` of nginx, `apis`, `people` with their tokens, the stores, and `restart`, which replaces the processes one by one
 */
export async function startSeveral({ node, size, people: count, reporting }) {
  if (!HAS_NGINX) throw new Error(`nginx is missing. ${HOW_TO_GET_NGINX}`)
  const stores = await startStores(count)
  const { env } = stores
  const ports = await Promise.all(Array.from({ length: size }, freePort))
  const apis = await Promise.all(ports.map((port) => startApi(node, env, port)))
  const reportingPort = await freePort()
  const nginx = await nginxServer({ clearing_house: ports, reporting: [reportingPort] })
  atEnd(() => nginx.remove())
  await nginx.start()
  if (reporting) {
    const jwksUrl = `http://127.0.0.1:${nginx.ports.clearingHouse}/.well-known/jwks.json`
    const options = { ...reporting, issuer: env.BASE_URL, jwksUrl, port: reportingPort, path: REPORT_PATH }
    await start('reporting-server.mjs', { args: [JSON.stringify(options)], node })
  }
  async function restart() {
    for (const [index, api] of apis.entries()) {
      await api.stop()
      apis[index] = await startApi(node, env, api.port)
    }
  }
  const people = await signedIn(nginx.ports.clearingHouse, stores.people)
  return { ...stores, people, node, apis, nginx, ports: nginx.ports, restart }
}

/** Runs `npm run example -- keys …`. Returns its output. */
export async function keys({ node, env }, ...args) {
  return (await promisify(execFile)(node, [example('commands/keys'), ...args], { env })).stdout
}
