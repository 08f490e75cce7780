import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  HAS_POSTGRES,
  HOW_TO_GET_POSTGRES,
  postgresServer,
} from '../../../support/services/servers/postgres-server.mjs'
import { HAS_REDIS, HOW_TO_GET_REDIS, redisServer } from '../../../support/services/servers/redis-server.mjs'
import { atEnd } from '../cleanup.mjs'

/** Creates a folder, and removes it at the end. */
export async function tempDir() {
  const dir = await mkdtemp(join(tmpdir(), 'fleet-'))
  atEnd(() => rm(dir, { recursive: true, force: true }))
  return dir
}

export async function startPostgres() {
  if (!HAS_POSTGRES) throw new Error(`PostgreSQL's server is not there. To get it: ${HOW_TO_GET_POSTGRES}`)
  // PostgreSQL's defaults, which the tests reduce.
  const postgres = await postgresServer({ settings: ['shared_buffers=128MB', 'max_connections=200'] })
  atEnd(() => postgres.remove())
  await postgres.start()
  return postgres
}

/** Starts Redis with a log on disk, so that it keeps its data when it is killed. It never waits for the disk. */
export async function startRedis() {
  if (!HAS_REDIS) throw new Error(`redis-server is not there. To get it: ${HOW_TO_GET_REDIS}`)
  const redis = await redisServer({ dir: await tempDir(), fsync: 'everysec' })
  atEnd(() => redis.kill())
  await redis.start()
  return redis
}
