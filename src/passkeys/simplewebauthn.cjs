/*
 * The package that checks passkeys. In a file of its own, so that a bundler does not look for the package in apps without passkeys.
 *
 * CommonJS, because a missing package must be an error of `passkeys`, and not of the import.
 */
exports.simplewebauthn = () => require('@simplewebauthn/server')
exports.helpers = () => require('@simplewebauthn/server/helpers')
