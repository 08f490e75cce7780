import type { Contexts } from '../../../../support/documents/examples.js'
import { HOST } from './host.js'

export const MIGRATIONS: Contexts = {
  'from-express-jwt': `${HOST}
    export const revoked = new Set<string>()`,
  'from-passport-jwt': `${HOST}
    const users = accounts`,
  'from-express-oauth2-jwt-bearer': '',
}
