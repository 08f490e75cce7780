import type { Account, AccountStore, LookUpResult, UserOf } from '../accounts/account.js'
import { findByIdOption } from '../accounts/find-account.js'
import { warnOnce } from '../events/warnings.js'
import { type HostOptions, hostAliases, hostSchema } from '../http/host-options.js'
import { bool, type Duration, func, HTTP_TOKEN, scopeList, text, tokenAge } from '../options/checks.js'
import { type Message, misuse, PAGE, type Subject } from '../options/misuse.js'
import {
  aliasesOf,
  type Check,
  type Checked,
  checkThat,
  InvalidOption,
  named,
  optional,
  readOptions,
} from '../options/read-options.js'
import { noteGuard } from '../sessions/mistakes.js'
import { sessionsOfStore } from '../sessions/store-option.js'
import type { Store } from '../store/store.js'
import type { CustomTokenVerifier } from '../tokens/token-verifier.js'
import { BEARER, type BearerScheme, schemeOf, type TokenFrom } from './bearer-header.js'
import type { GuardSettings } from './guard.js'
import type { Allow, RevocationCheck } from './steps.js'
import { tokenVerifiers } from './verifiers-option.js'

/** The options of `requireBearer`. */
export interface RequireBearerOptions<A extends LookUpResult = Account> extends HostOptions {
  /**
   * Verifies the tokens: the result of `createTokenIssuer` or `createTokenVerifier`. Or a list of 1 to 32 verifiers, each of another
   * issuer: the claim `iss` of a token selects its verifier. A token of another issuer is refused, unless `oldTokens` is in the list. A custom
   * verifier is an object with `issuer` and `verify`, and for other texts than JWTs also `accepts`.
   */
  tokens: CustomTokenVerifier | readonly CustomTokenVerifier[]
  /**
   * Scopes that a token must have, all of them: an array, or a string with spaces between them (RFC 6749 section 3.3). Default: none.
   * A missing scope causes a `403` (RFC 6750 section 3.1). `undefined` is a `TypeError`: a misspelt name must not open the guard.
   */
  scope?: string | readonly string[]
  /**
   * Scopes of which a token must have at least one: an array, or a string with spaces. Default: none. A token without any of them
   * causes a `403`, whose challenge lists them all. `undefined` is a `TypeError`.
   */
  anyScope?: string | readonly string[]
  /**
   * The longest time since the sign-in (RFC 9470), for routes that need a recent one: from 1 s to 366 days. An older token causes a
   * `401` with the error `insufficient_user_authentication` and `max_age`. Default: any age. The sign-in is the token's `issuedAt`, or an
   * earlier `auth_time` among its claims. A provider's token and an old token need it, and one after their `iat` does not count.
   */
  signedInWithin?: Duration | undefined
  /**
   * Admits administrators who act as the account, whose tokens have the claim `act` (RFC 8693 section 4.1). False causes a `403` with the
   * code `forbidden`. Default: true, and false with `signedInWithin`.
   */
  acting?: boolean | undefined
  /**
   * A store with `findById`, to look the account up on every request. A deleted or disabled account is refused, and so is a token
   * from before the account's `tokensValidAfter`. `req.auth.scopes` are then those that the token and the account both have, and `scope` and
   * `anyScope` need them.
   * `req.user` is the `user` that the store returned with the account, or the account without its password hash. Default: no look-up.
   */
  accounts?: (AccountStore<A> & Required<Pick<AccountStore<A>, 'findById'>>) | undefined
  /**
   * Called on every request. Returns whether the token was revoked. Use `auth.id` as the key, because a token's text has several
   * spellings. Default: tokens are valid until they expire.
   */
  isRevoked?: RevocationCheck | undefined
  /**
   * The store of the app, of which the guard needs only the `sessions`. A token without a live session is refused, also when no session was
   * ever stored for it. One look-up for each request. Default: tokens need no session.
   */
  store?: Pick<Store, 'sessions'> | undefined
  /**
   * Admits a request without credentials, without `req.auth`. With `true`, invalid credentials are still refused. With `'lenient'`, an invalid
   * or expired token counts as none, and the event `bearer.refused` reports it. Default false.
   */
  optional?: boolean | 'lenient' | undefined
  /**
   * Returns whether the account may use the route, for example as the owner of what the request names. `(req, account, auth) => boolean`, or a
   * promise. Needs `accounts`. False causes a `403`. Default: each account may.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows its requests.
  allow?: Allow<UserOf<A>, any> | undefined
  /**
   * The authentication scheme of the header and of the challenge, for clients that cannot be changed, such as `'Token'`. Or a list of 1 to
   * 4, of which the challenge has the first. Default `'Bearer'`.
   */
  scheme?: string | readonly string[] | undefined
  /**
   * Returns the token of a request whose token is not in the header, or undefined or null. Browsers send cookies with requests of other sites, so a
   * token in a cookie needs a defence against them (CSRF), such as `SameSite`. The second argument returns the token of the header. Default:
   * the header `Authorization`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows its requests.
  tokenFrom?: TokenFrom<any> | undefined
  /** The `realm` of the challenge (RFC 9110 section 11.5). Default: the issuer, the first of a list. */
  realm?: string | undefined
}

const realmText = text('printable ASCII text', /^[\x20-\x7e]+$/)

/** The options that a step of the guard reads. An option that no step names does not compile. */
type GuardTable = { readonly [name in keyof GuardSettings]: Check<GuardSettings[name] | undefined> }

const optionalOption: Check<boolean | 'lenient'> = (value) => (value === 'lenient' ? value : lenientOrBool(value))
const lenientOrBool = checkThat<boolean>("true, false or 'lenient'", (value) => typeof value === 'boolean')

const SCHEME = "the name of a scheme, like 'Token', or a list of 1 to 4"
const schemeText = text(SCHEME, HTTP_TOKEN)
function schemeOption(value: unknown): BearerScheme {
  const [first, ...others] = [value].flat().map(schemeText)
  if (first === undefined || others.length > 3) throw new InvalidOption(SCHEME)
  return schemeOf([first, ...others])
}

export const guardSchema = {
  tokens: tokenVerifiers,
  scope: optional(scopeList, [] as readonly string[]),
  anyScope: optional(scopeList),
  signedInWithin: optional(tokenAge),
  acting: optional(bool),
  accounts: optional(findByIdOption),
  isRevoked: optional(func<RevocationCheck>('a function (auth) => boolean')),
  store: optional(sessionsOfStore),
  optional: optional(optionalOption, false),
  allow: optional(func<Allow>('a function (req, account, auth) => boolean')),
  scheme: optional(schemeOption, BEARER),
  tokenFrom: optional(func<TokenFrom>('a function (req) => token')),
  realm: optional(realmText),
  timeout: hostSchema.timeout,
  onEvent: hostSchema.onEvent,
  refuse: hostSchema.refuse,
} satisfies GuardTable

export const guardAliases = aliasesOf({
  ...hostAliases,
  tokens: 'issuer secret secretOrKey algorithms',
  scope: 'scopes requiredScopes',
  'Pass its name as "scope", and return it in the "scopes" of the account': 'role roles permissions',
  signedInWithin: 'maxAge',
  store: 'sessions',
  tokenFrom: 'getToken jwtFromRequest',
  optional: 'credentialsRequired',
  'It is gone: clients also look for the metadata (RFC 9728) at its well-known path': 'resourceMetadata',
})

/** Reads the options of a guard that belong together, with the default of the realm. */
export function readRequireBearerOptions(caller: Subject, options: RequireBearerOptions): GuardSettings {
  const read = readOptions<RequireBearerOptions, typeof guardSchema>(caller, options, guardSchema, guardAliases)
  for (const option of ['scope', 'anyScope'] as const) {
    if (Object.hasOwn(options, option) && options[option] === undefined) {
      throw misuse(
        `${caller}: option "${option}" is undefined. Is its value misspelt? Omit the option to require no scope`,
        PAGE.guard,
      )
    }
  }
  noteMistakes(options, read)
  if (read.allow && !read.accounts) throw misuse(`${caller}: option "allow" needs "accounts"`, PAGE.guard)
  const name: Message = `${caller}: "tokens.issuer", the default of "realm",`
  const acting = read.acting ?? read.signedInWithin === undefined
  return { ...read, acting, realm: named(name, realmText, read.realm ?? read.tokens.realm) }
}

/** Warns of options that the host may not mean. */
function noteMistakes({ tokens }: RequireBearerOptions, read: Checked<typeof guardSchema>): void {
  const { scope, anyScope, store, isRevoked } = read
  if ([scope, anyScope].flat().some((one) => one?.includes(','))) warnOnce('commaInScope')
  // A function of the host may look the sessions up.
  if (isRevoked && !store) return
  for (const one of [tokens].flat()) noteGuard(one, store)
}
