import { isSignInRefusal, SignInRefusal } from '../errors/sign-in-refusal.js'
import { type ApiKeysOptions, apiKeysOptions } from '../features/api-keys.js'
import { type ChangeAddressOptions, changeAddressOptions } from '../features/change-address.js'
import { type ChangePasswordOptions, changePasswordOptions } from '../features/change-password.js'
import { type DeletionOptions, deletionOptions } from '../features/deletion.js'
import { onOrOff } from '../features/feature.js'
import { KEYS_PATH } from '../features/keys.js'
import { type PasswordResetOptions, passwordResetOptions } from '../features/password-reset.js'
import { type SecondFactorOptions, secondFactorOptions } from '../features/second-factor.js'
import { TOKEN_PATH } from '../features/sign-in.js'
import { type SignInByMailOptions, signInByMailOptions } from '../features/sign-in-by-mail.js'
import { ACCOUNT_PATH, type SignUpOptions, signUpOptions } from '../features/sign-up.js'
import type { RefreshMode } from '../http/responses.js'
import { bool, text } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import {
  aliasesOf,
  type Check,
  type Checked,
  checkThat,
  InvalidOption,
  optional,
  readOptions,
} from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { baseUrl } from '../options/web-url.js'
import { schemeName } from './guarded-operation.js'
import type { PathItem, Schema } from './types.js'

/**
 * The account routes of an app, with the options of `createAuth`.
 * @inline
 */
export interface AccountRoutes
  extends Pick<SignUpOptions, 'signUp'>,
    PasswordResetOptions,
    ChangePasswordOptions,
    ChangeAddressOptions,
    DeletionOptions,
    SignInByMailOptions,
    SecondFactorOptions,
    ApiKeysOptions {
  /** `true` where the app has the option `passkeys`. Default: `false`. */
  passkeys?: boolean | undefined
  /** Whole path of the account routes, with the mount point. Default: `'/auth/account'`. */
  path?: string | undefined
}

/** The options of `openApiDocument`. */
export interface OpenApiOptions {
  /** Name of your API. Default: `'Token endpoint'`. */
  title?: string | undefined
  /** Version of your API. Default: `'v2013'`. */
  version?: string | undefined
  /** Base URL or a list of base URLs, usually the issuer. Default: the document's origin. */
  servers?: string | readonly string[] | undefined
  /**
   * Full path of the token endpoint, including the mount point. Set to `false` for a service that only verifies tokens. Default:
   * `'/api/v2013/authentication/token'`.
   */
  path?: string | false | undefined
  /** `extraFields` of `tokenRouter`, or their schemas, such as `{ otp: { type: 'string' } }`. Default: none. */
  extraFields?: readonly string[] | Record<string, Schema> | undefined
  /** Request body schema for the `credentials` option. Default: `email`, `password`, and `extraFields`. */
  tokenRequest?: Schema | undefined
  /**
   * Your [`SignInRefusal`s](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-in-steps.md), or
   * their codes. The document already includes the `secondFactor` refusals. Default: none.
   *
   * Pass a refusal with another status than 403 itself.
   */
  refusals?: readonly (string | SignInRefusal)[] | undefined
  /** Schema of the object returned by `respond`. Default: `authenticationToken` and `expiration`. */
  tokenResponse?: Schema | undefined
  /** Refresh mode: `'cookie'`, `'body'`, or `true` if your mode is a function. Default: `false`. */
  refresh?: RefreshMode | boolean | undefined
  /** Full path of `jwksRouter`, or `true` for `/.well-known/jwks.json`. Default: `false`. */
  jwks?: string | boolean | undefined
  /** Full path of the session routes, or `true` for `/sessions`. Default: `false`. */
  sessions?: string | boolean | undefined
  /** `true` for `POST {path}/confirm`. Default: `false`. */
  stepUp?: boolean | undefined
  /** Your account routes, such as `{ path: '/auth/account', signUp: true }`. Default: none. */
  account?: AccountRoutes | undefined
  /** Security scheme name: letters, digits, `.`, `-`, and `_`. Default: `'bearer'`. */
  schemeName?: string | undefined
  /** Your own operations, by path. The document then omits unused components. Default: none. */
  paths?: Record<string, PathItem> | undefined
}

const nonEmpty = text('a non-empty string')
const pathOr =
  (other: Record<string, string | undefined>): Check<string | undefined> =>
  (value) =>
    typeof value === 'boolean' && Object.hasOwn(other, String(value)) ? other[String(value)] : plainPath(value)

const pathItems = checkThat<Record<string, PathItem>>(
  "an object of path items, like { '/statements': { get: guardedOperation(…) } }",
  (value) => isPlainObject(value) && Object.keys(value).every((path) => path.startsWith('/')),
)

const refreshModes: Check<readonly RefreshMode[]> = (value) => {
  if (value === false) return []
  if (value === true) return ['body', 'cookie']
  if (value === 'body' || value === 'cookie') return [value]
  throw new InvalidOption("'cookie', 'body', true or false")
}

const fieldSchemas: Check<Record<string, Schema>> = (value) => {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) {
    return Object.fromEntries(value.map((name) => [name, {}]))
  }
  if (isPlainObject(value) && Object.values(value).every(isPlainObject)) return value as Record<string, Schema>
  throw new InvalidOption("a list of names, or an object of schemas like { code: { type: 'string' } }")
}

const refusalList: Check<readonly SignInRefusal[]> = (value) => {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string' || isSignInRefusal(one))
  if (!isList) throw new InvalidOption("a list of codes, like ['code_required'], or of SignInRefusals")
  return value.map((one) => (typeof one === 'string' ? new SignInRefusal(one) : one))
}

const accountSchema = {
  path: optional(plainPath, ACCOUNT_PATH),
  signUp: signUpOptions.signUp,
  ...passwordResetOptions,
  ...changePasswordOptions,
  ...changeAddressOptions,
  ...deletionOptions,
  ...signInByMailOptions,
  ...secondFactorOptions,
  ...apiKeysOptions,
  passkeys: onOrOff,
}

const accountRoutes: Check<Checked<typeof accountSchema>> = (value) =>
  readOptions<AccountRoutes, typeof accountSchema>(
    'openApiDocument: option "account"',
    checkThat<AccountRoutes>("an object like { path: '/auth/account', signUp: true }", isPlainObject)(value),
    accountSchema,
  )

const schema = {
  title: optional(nonEmpty, 'Token endpoint'),
  version: optional(nonEmpty, 'v2013'),
  servers: optional((value): string[] => (Array.isArray(value) ? value : [value]).map(baseUrl), []),
  path: optional(pathOr({ false: undefined }), TOKEN_PATH),
  extraFields: optional(fieldSchemas, {} as Record<string, Schema>),
  tokenRequest: optional(checkThat<Schema>("a schema, like { type: 'object' }", isPlainObject)),
  refusals: optional(refusalList, [] as readonly SignInRefusal[]),
  tokenResponse: optional(checkThat<Schema>("a schema, like { type: 'object' }", isPlainObject)),
  refresh: optional(refreshModes, [] as readonly RefreshMode[]),
  jwks: optional(pathOr({ false: undefined, true: KEYS_PATH })),
  sessions: optional(pathOr({ false: undefined, true: '/sessions' })),
  stepUp: optional(bool, false),
  account: optional(accountRoutes),
  schemeName,
  paths: optional(pathItems),
}

const aliases = aliasesOf({
  tokenRequest: 'credentials fields',
  tokenResponse: 'respond',
})

export function readOpenApiOptions(options: OpenApiOptions | undefined) {
  return readOptions<OpenApiOptions, typeof schema>('openApiDocument', options, schema, aliases)
}
