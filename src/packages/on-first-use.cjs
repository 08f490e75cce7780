/*
 * Packages that a service that only verifies tokens never loads.
 *
 * CommonJS, because only `require` loads a package at its first use without a promise, and because bundlers follow it.
 */
exports.express = () => require('express')
exports.jsonwebtoken = () => require('jsonwebtoken')
exports.lruCache = () => require('lru-cache')

// A bundler cannot put a native module into a bundle. It follows only a name that it can read, except for webpack, which fails.
exports.native = (name) =>
  (typeof __non_webpack_require__ === 'function' ? __non_webpack_require__ : require)(/* turbopackIgnore: true */ name)
