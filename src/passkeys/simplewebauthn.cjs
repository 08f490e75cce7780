/*
 * The package that checks passkeys. In its own file, so that a bundler does not look for the package in apps without passkeys.
 *
 * CommonJS, because a missing package must be an error of `passkeys`, and not of the import.
 */
exports.simplewebauthn = () => require('@simplewebauthn/server')
exports.helpers = () => require('@simplewebauthn/server/helpers')
