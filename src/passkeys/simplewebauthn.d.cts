/** Returns the package that checks passkeys. */
export function simplewebauthn(): typeof import('@simplewebauthn/server')

/** Returns the helpers of the package. */
export function helpers(): typeof import('@simplewebauthn/server/helpers')
