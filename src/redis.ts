export { type RedisStoreOptions, redisStore } from './stores/redis-store.js'
