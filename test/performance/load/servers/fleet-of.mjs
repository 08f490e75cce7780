import { start } from '../../bench/servers/processes.mjs'
import { atEnd, ownChild } from '../cleanup.mjs'
import { addPeople } from '../clients/people.mjs'
import { startPostgres, startRedis, tempDir } from './databases.mjs'
import { startApi } from './example.mjs'

/** The databases of one environment, and what its processes are told about it. */
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

/**
 * Several processes of the clearing-house API behind one address, with accounts in their database.
 * @returns also what asks each process by itself
 */
export async function startFleet({ size, people: count }) {
  const environment = await startEnvironment('http://localhost:3000')
  const apis = await Promise.all(Array.from({ length: size }, () => startApi('clearing-house', environment.env)))
  const people = await addPeople(environment.env.DATABASE_URL, count)
  return { ...environment, apis, people, balancer: await startBalancer(apis.map(({ port }) => port)) }
}

/** One address before several ports. */
async function startBalancer(ports) {
  const { child, first, ask } = await start(new URL('./balancer.mjs', import.meta.url), { args: ports.map(String) })
  ownChild(child)
  atEnd(() => child.disconnect())
  return { port: first.port, counts: async () => (await ask('counts')).counts }
}
