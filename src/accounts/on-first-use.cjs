// A package that only logins need. See `src/http/on-first-use.cjs`.
exports.lruCache = () => require('lru-cache')

// An import of node:util reads each of its exports, which loads further modules of Node.
exports.promisify = require('node:util').promisify
