import { freePort } from '../../../support/services/servers/free-port.mjs'
import { HAS_NGINX, HOW_TO_GET_NGINX, nginxServer } from '../../../support/services/servers/nginx-server.mjs'
import { atEnd } from '../cleanup.mjs'
import { addPeople } from '../clients/people.mjs'
import { startPostgres, startRedis, tempDir } from './databases.mjs'
import { startApi } from './example.mjs'
import { startReporting } from './reporting-api.mjs'

/**
 * Starts processes of the clearing-house API behind nginx, with accounts in their database. `ports` has nginx's ports.
 * @param options `size` is the number of processes, and `people` the number of accounts. With `reporting`, the options of
 *   `remoteKeys`, the reporting API runs behind the same nginx.
 */
export async function startFleet({ size, people: count, reporting }) {
  const [postgres, redis] = [await startPostgres(), await startRedis()]
  const env = {
    DATA_DIR: await tempDir(),
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    BASE_URL: 'http://localhost:3000',
    TRUSTED_PROXIES: '1',
  }
  const apis = await Promise.all(Array.from({ length: size }, () => startApi('clearing-house', env)))
  const reportingPort = await freePort()
  const nginx = await startNginx({ clearing_house: apis.map(({ port }) => port), reporting: [reportingPort] })
  const people = await addPeople(env.DATABASE_URL, count)
  if (reporting) await startReporting(reporting, reportingPort, { ...env, JWKS_URL: jwksAt(nginx.ports.clearingHouse) })
  return { postgres, redis, env, apis, nginx, ports: nginx.ports, people }
}

/** Starts nginx with the example's configuration. */
async function startNginx(upstreams) {
  if (!HAS_NGINX) throw new Error(`nginx is missing. ${HOW_TO_GET_NGINX}`)
  const nginx = await nginxServer(upstreams)
  atEnd(() => nginx.remove())
  await nginx.start()
  return nginx
}

const jwksAt = (port) => `http://127.0.0.1:${port}/.well-known/jwks.json`
