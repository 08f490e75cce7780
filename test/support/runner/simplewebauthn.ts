import * as server from '@simplewebauthn/server'
import * as all from '@simplewebauthn/server/helpers'

/** The package of passkeys, for tests of the source. */
export const simplewebauthn = () => server
export const helpers = () => all
