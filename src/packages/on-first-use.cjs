/*
 * Packages that a service that only verifies tokens never loads. See `src/packages/http/on-first-use.cjs`.
 */
exports.jsonwebtoken = () => require('jsonwebtoken')
exports.lruCache = () => require('lru-cache')

// An import of node:util reads each of its exports, which loads further modules of Node.
exports.promisify = require('node:util').promisify
