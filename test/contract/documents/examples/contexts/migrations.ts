import type { Contexts } from '../../../../support/documents/examples.js'
import { HOST } from './host.js'

export const MIGRATIONS: Contexts = {
  'from-express-jwt': `${HOST}
    export const revoked = new Set<string>()`,
  'from-passport-jwt': `${HOST}
    const users = accounts`,
  'from-express-oauth2-jwt-bearer': '',
}

/** Blocks with code of other packages. */
export const PEERS: Contexts = {
  'before-express-jwt': `const checkPassword = async (/** @type {string} */ email, /** @type {string} */ password) =>
      email === 'alice@example.com' && password === 'secret' ? { id: 'acc-1', admin: true } : undefined`,
  'before-passport-jwt': `${HOST}
    const users = accounts`,
  'before-express-oauth2-jwt-bearer': '',
  'passport-bearer-strategy': `${HOST}
    const users = accounts`,
}

/** Blocks that verify tokens with other packages. `test/languages` runs them. */
export const VERIFIERS: Contexts = {
  'jose-strict': '',
  'oauth4webapi-strict': '',
  'fast-jwt-strict': '',
  'jsonwebtoken-strict': '',
  'aws-jwt-verify-strict': '',
}
