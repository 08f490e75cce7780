import { createLimits, type Limits, type Store } from 'express-token-endpoint'
import { kyselyStore } from 'express-token-endpoint/kysely'
import { messageOf, Outage } from '../errors.js'
import type { Checks } from '../web/health-router.js'
import { type Database, TABLES } from './databases/schema.js'

/** State that all processes of one environment share. */
export interface SharedState {
  limits: Limits
  store: Store
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
    return { limits: createLimits(), store: kyselyStore(db, TABLES), checks: {}, close() {} }
  }
  // A start without Redis is faster without these modules.
  const [{ openRedis }, { redisStore }, { RateLimiterRedis }] = await Promise.all([
    import('./redis.js'),
    import('express-token-endpoint/redis'),
    import('rate-limiter-flexible'),
  ])
  const redis = await openRedis(redisUrl, log)
  return {
    limits: createLimits({ limiter: (options) => new RateLimiterRedis({ ...options, storeClient: redis }) }),
    store: redisStore({
      // An earlier version used `session:` with another index, so its sessions could not be listed and ended.
      prefix: 'device-',
      sendCommand: (...command) => redis.call(...command).catch(throwOutage),
    }),
    checks: { redis: () => redis.ping() },
    close: () => redis.disconnect(),
  }
}

function throwOutage(error: unknown): never {
  throw new Outage(`Redis: ${messageOf(error)}`, { cause: error })
}
