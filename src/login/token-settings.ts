import type { Request } from 'express'
import type { Account, LookUpResult, UserOf } from '../accounts/account.js'
import { func } from '../options/checks.js'
import { optional } from '../options/read-options.js'
import type { NewSession } from '../sessions/session.js'
import type { Sessions } from '../sessions/sessions.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import type { LoginSettings } from './login-options.js'
import type { RefreshRoutes } from './refresh-mode.js'

/** The facts of an issued token for the option `respond`. */
export interface IssuedResponse<A extends LookUpResult = Account> {
  /** The token's text. */
  token: string
  /** The token's own `exp`, to the second. */
  expiresAt: Date
  /** The object that your look-up returned as `user`, or the account without its password hash. */
  account: UserOf<A>
  /** The request. */
  req: Request
}

/** The options of the response to a sign-in. */
export interface RespondOptions<A extends LookUpResult = Account> {
  /**
   * Function `({ token, expiresAt, account, req }) => object`, sync or async, that returns the JSON response. Default:
   * `authenticationToken` and `expiration`.
   */
  respond?: ((issued: IssuedResponse<A>) => object | Promise<object>) | undefined
}

export const respondOption = optional(func<NonNullable<RespondOptions['respond']>>('a function'))

/** The settings of the token endpoint and of the endpoints below it. */
export interface TokenSettings extends LoginSettings {
  tokens: TokenIssuer
  path: string
  respond: RespondOptions['respond']
  sessions?: Sessions | undefined
  sessionLabel?: ((req: Request) => Label | Promise<Label>) | undefined
  refresh?: RefreshRoutes | undefined
  /** The path at which the app says that it mounts the router. */
  mountPath?: string | undefined
}

/** @inline */
type Label = NewSession['label']
