import { onTestFinished } from 'vitest'
import { isMissing } from './missing.js'
import { HAS_REDIS, HOW_TO_GET_REDIS, redisServer } from './servers/redis-server.mjs'

/** True for `describe.skipIf` when Redis is not installed. */
export const NO_REDIS = isMissing(HAS_REDIS, 'redis-server', HOW_TO_GET_REDIS)

export type TestRedis = Awaited<ReturnType<typeof redisServer>>

/** Starts a temporary Redis on a free port, and stops it when the test ends. With `dir`, it stores its data in that folder, as the file `config` says. */
export async function startRedis(
  options: { dir?: string; config?: string; cluster?: boolean } = {},
): Promise<TestRedis> {
  const redis = await redisServer(options)
  onTestFinished(() => redis.kill())
  await redis.start()
  return redis
}
