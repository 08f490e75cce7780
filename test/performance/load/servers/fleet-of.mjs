import { HAS_NGINX, HOW_TO_GET_NGINX, nginxServer } from '../../../support/services/servers/nginx-server.mjs'
import { start } from '../../processes.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'
import { addPeople } from '../clients/people.mjs'
import { startPostgres, startRedis, tempDir } from './databases.mjs'
import { startApi } from './example.mjs'

/** Starts the databases of one environment. Returns them with the environment variables of its processes. */
export async function startEnvironment(baseUrl) {
  const postgres = await startPostgres()
  const redis = await startRedis()
  const env = {
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: baseUrl,
  }
  return { postgres, redis, env }
}

/** Starts several processes of the clearing-house API with one address, and with accounts in their database. */
export async function startFleet({ size, people: count }) {
  const environment = await startEnvironment('http://localhost:3000')
  const apis = await Promise.all(Array.from({ length: size }, () => startApi('clearing-house', environment.env)))
  const people = await addPeople(environment.env.DATABASE_URL, count)
  return { ...environment, apis, people, balancer: await startBalancer(apis.map(({ port }) => port)) }
}

/** Starts nginx with the example's configuration in front of the clearing-house API. Returns its port. */
export async function startNginx(ports) {
  if (!HAS_NGINX) throw new Error(`nginx is missing. ${HOW_TO_GET_NGINX}`)
  const nginx = await nginxServer({ clearing_house: ports })
  atEnd(() => nginx.remove())
  await nginx.start()
  return nginx.ports.clearingHouse
}

/** Starts a balancer that forwards connections. */
async function startBalancer(ports) {
  const { child, first, ask } = await start(new URL('./balancer.mjs', import.meta.url), { args: ports.map(String) })
  ownChild(child)
  atEnd(() => child.disconnect())
  return { port: first.port, counts: async () => (await ask('counts')).counts }
}
