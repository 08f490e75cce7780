import type { Account } from './accounts/account.js'
import type { VerifiedToken } from './tokens/verified-token.js'

/*
 * Types for Express's requests, for a host that does not declare its own: `import 'express-token-endpoint/express'`.
 */

declare global {
  namespace Express {
    /** The user of a request: the account of the token. */
    interface User extends Omit<Account, 'passwordHash'> {}
    /** A request after a guard. */
    interface Request {
      /** The verified bearer token of a guarded route. `authOf` returns it without the type `undefined`. */
      auth?: VerifiedToken
      /** The account of the token, where the guard has `accounts`. */
      user?: User | undefined
    }
  }
}
