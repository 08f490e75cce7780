export { type RedisCodesOptions, redisCodes } from './stores/redis-codes.js'
export type { RedisSessionsOptions } from './stores/redis-commands.js'
export { redisSessions } from './stores/redis-sessions.js'
