/** Returns ipaddr.js, which reads the address of a client. */
export function ipaddr(): typeof import('ipaddr.js')

/** Returns lru-cache, which holds the counts of the failed-login limits. */
export function lruCache(): typeof import('lru-cache')

/** Node's own function. */
export const promisify: typeof import('node:util').promisify
