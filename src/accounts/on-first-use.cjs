/*
 * Packages that only logins and waiting requests need. See `src/http/on-first-use.cjs`.
 */
exports.ipaddr = () => require('ipaddr.js')
exports.lruCache = () => require('lru-cache')
