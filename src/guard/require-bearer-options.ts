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
   * Result of `createTokenIssuer`, `createTokenVerifier`, or `oldTokens`, a [custom
   * verifier](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#custom-verifiers), or a
   * [list](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/issuers.md) of 1 to 32 verifiers with
   * different issuers.
   *
   * The claim `iss` of a token selects its verifier. A token of another issuer is refused, unless `oldTokens` is in the list. `accepts` is
   * for other texts than JWTs.
   */
  tokens: CustomTokenVerifier | readonly CustomTokenVerifier[]
  /**
   * Scopes that a token must include, as an array or a space-separated string. If a scope is missing, the guard returns `403`. Default:
   * none.
   */
  scope?: string | readonly string[]
  /** Scopes, at least one of which a token must include. Default: none. */
  anyScope?: string | readonly string[]
  /**
   * Maximum time since the sign-in (1 s to 366 days, RFC 9470). For older sign-ins, the guard returns `401` with `max_age`. Tokens from a
   * different issuer must contain `auth_time`. Default: any age.
   *
   * The time of the sign-in is `auth_time`, or `iat` when a token of this package has no `auth_time`. An `auth_time` of a different issuer
   * must not be later than `iat`.
   */
  signedInWithin?: Duration | undefined
  /**
   * Set to `true` to require either `mfa` or both `hwk` and `user` in the token's `amr` claim (RFC 8176). Otherwise, the guard returns
   * `401`. Default: `false`.
   *
   * The code of the refusal is `insufficient_user_authentication`.
   */
  secondFactor?: boolean | undefined
  /**
   * Set to `false` to reject administrators who [act as the
   * account](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#authsigninaccount-req-res-details)
   * with `403`. Default: `false` with `signedInWithin`, otherwise `true`.
   */
  acting?: boolean | undefined
  /**
   * Account store. On every request, the guard calls `findById`, sets `req.user`, and ignores scopes that the account no longer has. The
   * guard returns `401` if the account is missing or disabled, or if the token was issued before
   * [`tokensValidAfter`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-out.md#sign-a-user-out-everywhere).
   * Default: none.
   *
   * `req.user` is the `user` that the store returned with the account, or the account without its password hash. Without `accounts`, the
   * guard keeps an existing `req.user` only if its `id` matches the token.
   */
  accounts?: (AccountStore<A> & Required<Pick<AccountStore<A>, 'findById'>>) | undefined
  /**
   * A function, `(auth) => boolean`, that is called on every request. The guard returns `401` if the function returns `true`. Default:
   * none.
   *
   * When it fails or returns another value, the client receives `503`. Use `auth.id` as the key, because a token's text has several
   * spellings.
   */
  isRevoked?: RevocationCheck | undefined
  /**
   * Your app's [store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/sessions.md#store). On
   * every request, the guard returns `401` if the token's session is not active. Default: none.
   */
  store?: Pick<Store, 'sessions'> | undefined
  /**
   * Set to `true` to accept requests without a token, or to `'lenient'` to also accept requests with an invalid token and report them.
   * Default: `false`.
   */
  optional?: boolean | 'lenient' | undefined
  /**
   * A sync or async function, `(req, account, auth) => boolean`, for [owner-only
   * routes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/mount-and-guard.md#let-owners-use-a-route).
   * If the function returns `false`, the guard returns `403`. Requires `accounts`. Default: every account.
   *
   * When it fails or returns another value, the client receives `503`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows its requests.
  allow?: Allow<UserOf<A>, any> | undefined
  /** An authentication scheme, or a list of one to four schemes. The first one appears in `WWW-Authenticate`. Default: `'Bearer'`. */
  scheme?: string | readonly string[] | undefined
  /**
   * A function, `(req, inHeader) => token`, that returns [tokens sent outside the
   * header](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/mount-and-guard.md#read-tokens-from-a-cookie-or-a-custom-scheme).
   * Return a string, `undefined`, or `null`. To read the header's token, call `inHeader()`. Default: the header.
   *
   * Browsers send cookies with requests of other sites, so a token in a cookie needs a defence against them (CSRF), such as `SameSite`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows its requests.
  tokenFrom?: TokenFrom<any> | undefined
  /** `realm` in `WWW-Authenticate`, in printable ASCII. Default: the first issuer. */
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
  secondFactor: optional(bool, false),
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
        `${caller}: option "${option}" is undefined. Check the spelling of its value. To require no scope, omit the option`,
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
