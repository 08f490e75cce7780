export { type RedisStoreOptions, redisStore } from './stores/redis-store.js'
export { redisCodes, redisSessions } from './stores/renamed.js'
