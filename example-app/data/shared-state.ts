import { createThrottle, type Throttle } from 'express-token-endpoint'
import type { Checks } from '../web/health-router.js'
import type { Database } from './databases/schema.js'
import { databaseRevocation, type Revocation, redisRevocation } from './revocation.js'

/** What has to be the same in every process that serves one environment. */
export interface SharedState {
  throttle: Throttle
  revocation: Revocation
  checks: Checks
  close(): void
}

/** On Redis where it is configured; else revocations in the database, and budgets in memory, for one process. */
export async function openSharedState(
  redisUrl: string | undefined,
  db: Database,
  log: (line: string) => void,
): Promise<SharedState> {
  if (redisUrl === undefined) {
    return { throttle: createThrottle(), revocation: databaseRevocation(db), checks: {}, close() {} }
  }
  // Loaded only here: they would make every start slower.
  const [{ openRedis }, { RateLimiterRedis }] = await Promise.all([
    import('./redis.js'),
    import('rate-limiter-flexible'),
  ])
  const redis = await openRedis(redisUrl, log)
  return {
    throttle: createThrottle({ limiter: (options) => new RateLimiterRedis({ ...options, storeClient: redis }) }),
    revocation: redisRevocation(redis),
    checks: { redis: () => redis.ping() },
    close: () => redis.disconnect(),
  }
}
