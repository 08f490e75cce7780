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

// An import of node:util reads each of its exports, which loads further modules of Node.
exports.promisify = require('node:util').promisify
