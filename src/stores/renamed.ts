import { gone, PAGE } from '../options/misuse.js'

/*
 * The names of earlier releases. Each throws an error that says what to do. They go at 1.0.0.
 */

/** @deprecated Call `redisStore`. */
export const redisSessions = gone('redisSessions is now a part of redisStore()', PAGE.stores)
/** @deprecated Call `redisStore`. */
export const redisCodes = gone('redisCodes is now a part of redisStore()', PAGE.stores)
/** @deprecated Call `kyselyStore`. */
export const kyselySessions = gone('kyselySessions is now a part of kyselyStore()', PAGE.stores)
/** @deprecated Call `kyselyStore`. */
export const kyselyCodes = gone('kyselyCodes is now a part of kyselyStore()', PAGE.stores)
/** @deprecated Call `createTables`. */
export const createSessionTable = gone('createSessionTable is now createTables()', PAGE.stores)
/** @deprecated Call `createTables`. */
export const createCodeTable = gone('createCodeTable is now createTables()', PAGE.stores)
