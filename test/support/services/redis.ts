import { onTestFinished } from 'vitest'
import { HAS_REDIS, HOW_TO_GET_REDIS, type RedisServer, redisServer } from './servers/redis-server.mjs'

export { freePort } from './servers/free-port.mjs'

if (!HAS_REDIS) {
  if (process.env['REQUIRE_SERVICES']) throw new Error(`redis-server is not there. To get it: ${HOW_TO_GET_REDIS}`)
  process.stdout.write(`Tests with Redis are skipped: redis-server is not there. To get it: ${HOW_TO_GET_REDIS}\n`)
}

/** True for `describe.skipIf` when Redis is not installed. */
export const NO_REDIS = !HAS_REDIS

export type TestRedis = RedisServer

/** Starts a temporary Redis on a free port, and stops it when the test ends. With `dir`, it stores its data in that folder. */
export async function startRedis(options: { dir?: string } = {}): Promise<TestRedis> {
  const redis = await redisServer(options)
  onTestFinished(() => redis.kill())
  await redis.start()
  return redis
}
