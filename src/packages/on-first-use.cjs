/*
 * Packages that a service that only verifies tokens never loads.
 *
 * CommonJS, because only `require` loads a package at its first use without a promise, and because bundlers follow it.
 */
exports.bytes = () => require('bytes')
exports.contentType = () => require('content-type')
exports.express = () => require('express')
exports.jsonwebtoken = () => require('jsonwebtoken')
exports.lruCache = () => require('lru-cache')
exports.rawBody = () => require('raw-body')

// A bundler follows only a name that it can read, and cannot put a native module into a bundle.
exports.native = (name) => require(name)
