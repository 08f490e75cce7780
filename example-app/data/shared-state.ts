import { createThrottle, type SessionStore, type Throttle } from 'express-token-endpoint'
import type { Checks } from '../web/health-router.js'
import type { Database } from './databases/schema.js'
import { databaseSessions, redisSessions } from './sessions.js'

/** State that all processes of one environment share. */
export interface SharedState {
  throttle: Throttle
  sessionStore: SessionStore
  checks: Checks
  close(): void
}

/**
 * Opens the shared state in Redis, if it is configured.
 * Without Redis, the sessions are in the database, and each process counts failed logins in memory.
 */
export async function openSharedState(
  redisUrl: string | undefined,
  db: Database,
  log: (line: string) => void,
): Promise<SharedState> {
  if (redisUrl === undefined) {
    return { throttle: createThrottle(), sessionStore: databaseSessions(db), checks: {}, close() {} }
  }
  // A start without Redis is faster without these modules.
  const [{ openRedis }, { RateLimiterRedis }] = await Promise.all([
    import('./redis.js'),
    import('rate-limiter-flexible'),
  ])
  const redis = await openRedis(redisUrl, log)
  return {
    throttle: createThrottle({ limiter: (options) => new RateLimiterRedis({ ...options, storeClient: redis }) }),
    sessionStore: redisSessions(redis),
    checks: { redis: () => redis.ping() },
    close: () => redis.disconnect(),
  }
}
