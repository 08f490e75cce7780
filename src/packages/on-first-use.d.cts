/** Returns Express, the copy that the host uses. */
export function express(): typeof import('express')

/** Returns jsonwebtoken, which signs tokens. */
export function jsonwebtoken(): typeof import('jsonwebtoken')

/** Returns lru-cache, which holds the counts of the failed-login limits. */
export function lruCache(): typeof import('lru-cache')

/** Returns a native module, which hashes passwords. */
export function native(name: string): unknown
