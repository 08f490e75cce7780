import type { IncomingMessage } from 'node:http'
import type { AccountStore } from '../../accounts/account.js'
import { findByIdOption } from '../../accounts/find-account.js'
import { headerOf } from '../../http/header-lines.js'
import { hostSchema } from '../../http/host-options.js'
import type { Duration } from '../../options/checks.js'
import { misuse, PAGE } from '../../options/misuse.js'
import { aliasesOf, optional, readOptions } from '../../options/read-options.js'
import { isValidDate, memberOf } from '../../options/values.js'
import { noteIssuing } from '../../sessions/mistakes.js'
import type { NewSession } from '../../sessions/session.js'
import type { Sessions } from '../../sessions/sessions.js'
import { sessionsOption } from '../../sessions/sessions-option.js'
import { tokenIssuer } from '../../tokens/issuer-option.js'
import type { IssuedToken, TokenSubject } from '../../tokens/jwt/issue-token.js'
import type { TokenIssuer } from '../../tokens/tokens.js'
import { isRequest, type LoginOrigin, originOf } from '../login-origin.js'
import { lookUpOf } from '../steps/confirmation.js'
import { loginById } from './account-by-id.js'
import { startSession } from './start-session.js'

/** The options of `createSignIn`. */
export interface SignInOptions {
  /** Issues the tokens: the result of `createTokenIssuer`. */
  tokens: TokenIssuer
  /** The sessions of the app: the result of `createSessions`. */
  sessions: Sessions
  /** A store with `findById`, to sign in an account by its id. Default: only the subject of a login can sign in. */
  accounts?: (AccountStore & Required<Pick<AccountStore, 'findById'>>) | undefined
  /** Time limit for each look-up of an account by its id, and for the sessions. Default 5 s. 1 ms to 1 min. After the limit: `unavailable`. */
  timeout?: Duration | undefined
}

/** The details of a sign-in. */
export interface SignInDetails {
  /** The name of the device for the list of sessions, cut to 64 characters. Default: no name. */
  label?: NewSession['label']
  /**
   * The time just before you authenticated an account that you pass by its id, for example before you read a mailed code. A later
   * `tokensValidAfter` refuses the sign-in. Default: the time of the call.
   */
  issuedAt?: Date | undefined
}

/**
 * Issues a token, starts its session and confirms the sign-in. Returned by `createSignIn`.
 * @param whom the `subject` of a login, or a copy of it with other scopes, claims or another lifetime. With `accounts`, also the id of an
 * account that you have authenticated without its password
 * @param origin the request, or the client's address. Default: a client without an address
 * @throws AuthError `invalid_credentials` when the account was deleted or disabled, or its password was changed; `unavailable` when a
 * dependency fails; `overloaded`; `client_closed_request`. Then no session remains, so send no token. TypeError for an invalid argument
 */
export type SignIn = (
  whom: TokenSubject | string,
  origin?: IncomingMessage | LoginOrigin,
  details?: SignInDetails,
) => Promise<IssuedToken>

const schema = {
  tokens: tokenIssuer,
  sessions: sessionsOption,
  accounts: optional(findByIdOption),
  timeout: hostSchema.timeout,
}

const aliases = aliasesOf({ tokens: 'issuer tokenIssuer', accounts: 'store users' })

/**
 * Creates the end of a sign-in in a custom route: a token whose session has started. A sign-in that overtakes a password change leaves no
 * session, as with `tokenRouter`.
 * @throws TypeError naming the option that is not valid
 */
export function createSignIn(options: SignInOptions): SignIn {
  const read = readOptions<SignInOptions, typeof schema>('createSignIn', options, schema, aliases)
  const { tokens, sessions, accounts: findById, timeout } = read
  sessions.useFor([tokens.issuer], 'createSignIn')
  noteIssuing(tokens, sessions)

  return async function signIn(whom, origin = {}, details = {}) {
    const [label, issuedAt] = [memberOf(details, 'label') as SignInDetails['label'], memberOf(details, 'issuedAt')]
    if (issuedAt !== undefined && !isValidDate(issuedAt)) throw misuse('signIn: "issuedAt" must be a valid Date')
    const found =
      typeof whom === 'string' && findById ? await loginById({ tokens, findById, timeout }, whom, issuedAt) : undefined
    const subject = found?.subject ?? (whom as TokenSubject)
    const confirm = lookUpOf(Object(subject))?.confirm
    if (!confirm) {
      const what = 'pass the subject that logIn() returned, or a copy of it with its "issuedAt"'
      throw misuse(`signIn: ${what}. To pass the id of an account, set the option "accounts"`, PAGE.login)
    }
    const { address, signal } = originOf('signIn', origin)
    const userAgent = isRequest(origin) ? (headerOf(origin, 'user-agent') as string | undefined) : undefined
    const issued = await tokens.issue(subject)
    const { id, expiresAt } = issued
    const session = { id, accountId: subject.accountId, expiresAt, label, address, userAgent }
    await startSession({ sessions, session, confirm, isWanted: () => !signal.aborted, timeout })
    return issued
  }
}
