import { Redis } from 'ioredis'
import { messageOf, OperatorError } from '../errors.js'
import { outageLog } from './databases/outage.js'

/** Maximum time of the first connection. */
const CONNECT_LIMIT_MS = 5000

/**
 * Connects to Redis. The client reconnects automatically.
 * @throws OperatorError when Redis is unreachable or refuses the first command
 */
export async function openRedis(url: string, log: (line: string) => void): Promise<Redis> {
  let isOpen = false
  const redis = new Redis(url, {
    lazyConnect: true,
    // While Redis is down, a command fails at once: sign-ins and the guard return 503, and each process counts failed logins in memory.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    commandTimeout: 1000,
    // A connection without a response for this long is dead, and the client opens a new one.
    socketTimeout: 5000,
    retryStrategy: (attempt) => (isOpen ? Math.min(attempt * 100, 1000) : null),
  })
  // connect() rejects with "Connection is closed"; the error event has the reason.
  let firstError: unknown
  const noteFirst = (error: unknown) => {
    firstError ??= error
  }
  redis.on('error', noteFirst)
  const timer = setTimeout(() => redis.disconnect(), CONNECT_LIMIT_MS)
  try {
    await redis.connect()
    await redis.ping()
    isOpen = true
  } catch (error) {
    if (redis.status !== 'end') redis.disconnect()
    throw new OperatorError(`REDIS_URL: ${messageOf(firstError ?? error)}`)
  } finally {
    clearTimeout(timer)
  }
  const outage = outageLog('Redis', log)
  redis.off('error', noteFirst)
  redis.on('error', outage.began)
  // ioredis emits no error when the server closes the connection properly.
  redis.on('reconnecting', () => outage.began(new Error('the connection was closed')))
  redis.on('ready', outage.ended)
  return redis
}
