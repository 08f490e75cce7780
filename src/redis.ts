export { type RedisSessionsOptions, redisSessions } from './stores/redis-sessions.js'
