import { createLimits, type Limits, type SessionStore } from 'express-token-endpoint'
import { kyselySessions } from 'express-token-endpoint/kysely'
import { messageOf, Outage } from '../errors.js'
import type { Checks } from '../web/health-router.js'
import { type Database, SESSION_TABLE } from './databases/schema.js'

/** State that all processes of one environment share. */
export interface SharedState {
  limits: Limits
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
    return { limits: createLimits(), sessionStore: kyselySessions(db, SESSION_TABLE), checks: {}, close() {} }
  }
  // A start without Redis is faster without these modules.
  const [{ openRedis }, { redisSessions }, { RateLimiterRedis }] = await Promise.all([
    import('./redis.js'),
    import('express-token-endpoint/redis'),
    import('rate-limiter-flexible'),
  ])
  const redis = await openRedis(redisUrl, log)
  return {
    limits: createLimits({ limiter: (options) => new RateLimiterRedis({ ...options, storeClient: redis }) }),
    sessionStore: redisSessions({
      // An earlier version used `session:` with another index, so its sessions could not be listed and ended.
      prefix: 'device-session:',
      sendCommand: (...command) => redis.call(...command).catch(throwOutage),
    }),
    checks: { redis: () => redis.ping() },
    close: () => redis.disconnect(),
  }
}

function throwOutage(error: unknown): never {
  throw new Outage(`Redis: ${messageOf(error)}`, { cause: error })
}
