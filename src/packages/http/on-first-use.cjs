/*
 * Packages that only the token endpoint needs. A service that only verifies tokens never loads them.
 *
 * CommonJS, because only `require` loads a package at its first use without a promise, and because bundlers follow it.
 */
exports.bytes = () => require('bytes')
exports.contentType = () => require('content-type')
exports.express = () => require('express')
exports.rawBody = () => require('raw-body')
