import type { Contexts } from '../../../../support/documents/examples.js'
import { HOST } from './host.js'

/** Blocks of other packages run, but are not type-checked: the packages declare another type of `req.auth`, or have no types. */
const OTHER = '// @ts-nocheck\n'

export const PEERS: Contexts = {
  'before-express-jwt': `${OTHER}
    const checkPassword = async (email, password) =>
      email === 'alice@example.com' && password === 'secret' ? { id: 'acc-1', admin: true } : undefined`,
  'before-passport-jwt': `${OTHER}${HOST}
    const users = accounts`,
  'before-express-oauth2-jwt-bearer': OTHER,
  'passport-bearer-strategy': `${HOST}
    const users = accounts`,
}
