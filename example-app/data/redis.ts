import { Redis } from 'ioredis'
import { Failure, messageOf } from '../failure.js'
import { outageLog } from './databases/outage.js'

/** How long the first connection may take. */
const PATIENCE_MS = 5000

/**
 * Connects to Redis; afterwards it reconnects by itself.
 * @throws Failure when it cannot be reached or used
 */
export async function openRedis(url: string, log: (line: string) => void): Promise<Redis> {
  let isOpen = false
  const redis = new Redis(url, {
    lazyConnect: true,
    // While it is away, a command fails at once: a guard's answer is 503, and budgets go on in memory.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    commandTimeout: 1000,
    // A connection that is silent for so long while it is asked is dead, and makes room for a new one.
    socketTimeout: 5000,
    retryStrategy: (attempt) => (isOpen ? Math.min(attempt * 100, 1000) : null),
  })
  // What connect() rejects with is only that the connection is closed.
  let firstError: unknown
  const noteFirst = (error: unknown) => {
    firstError ??= error
  }
  redis.on('error', noteFirst)
  const timer = setTimeout(() => redis.disconnect(), PATIENCE_MS)
  try {
    await redis.connect()
    await redis.ping()
    isOpen = true
  } catch (error) {
    if (redis.status !== 'end') redis.disconnect()
    throw new Failure(`REDIS_URL: ${messageOf(firstError ?? error)}`)
  } finally {
    clearTimeout(timer)
  }
  const outage = outageLog('Redis', log)
  redis.off('error', noteFirst)
  redis.on('error', outage.began)
  // A connection that is closed in good order is no error to ioredis.
  redis.on('reconnecting', () => outage.began(new Error('the connection was closed')))
  redis.on('ready', outage.ended)
  return redis
}
