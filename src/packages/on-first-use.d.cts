/** Returns jsonwebtoken, which signs tokens. */
export function jsonwebtoken(): typeof import('jsonwebtoken')

/** Returns lru-cache, which holds the counts of the failed-login limits. */
export function lruCache(): typeof import('lru-cache')

/** Node's own function. */
export const promisify: typeof import('node:util').promisify
