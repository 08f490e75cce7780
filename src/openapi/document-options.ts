import { isSignInRefusal, SignInRefusal } from '../errors/sign-in-refusal.js'
import { KEYS_PATH } from '../features/keys.js'
import { TOKEN_PATH } from '../features/sign-in.js'
import type { RefreshMode } from '../http/responses.js'
import { text } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, type Check, checkThat, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { baseUrl } from '../options/web-url.js'
import { schemeName } from './guarded-operation.js'
import type { PathItem, Schema } from './types.js'

/** The options of `openApiDocument`. */
export interface OpenApiOptions {
  /** The API's name. Default `Token endpoint`. */
  title?: string | undefined
  /** The API's version. Default `v2013`, the version of the token endpoint. */
  version?: string | undefined
  /** The base URL (usually the issuer), or a list of base URLs. Default: the origin that serves the document. */
  servers?: string | readonly string[] | undefined
  /**
   * The whole path of the token endpoint: the mount path of `tokenRouter` and its `path`. Default
   * `/api/v2013/authentication/token`. Set `false` for a service that only verifies tokens.
   */
  path?: string | false | undefined
  /**
   * The further members of the request body, by name: the option `extraFields` of `tokenRouter`. A list of names, or their schemas like
   * `{ code: { type: 'string' } }`. Default none.
   */
  extraFields?: readonly string[] | Record<string, Schema> | undefined
  /** The schema of the request body, where `tokenRouter` has the option `credentials`. Default: `email`, `password` and the members of `extraFields`. */
  tokenRequest?: Schema | undefined
  /** The refusals of `beforeSignIn`: their codes, or `SignInRefusal`s with another status than 403. Default none. */
  refusals?: readonly (string | SignInRefusal)[] | undefined
  /**
   * The schema of the object that `respond` of `tokenRouter` returns, for example `{ type: 'object' }`. Default: `authenticationToken` and
   * `expiration`.
   */
  tokenResponse?: Schema | undefined
  /**
   * The option `refresh` of `createAuth`: `'cookie'`, `'body'`, or `true` for a function, whose clients may use both. Default false: the
   * router has no `refresh`.
   */
  refresh?: RefreshMode | boolean | undefined
  /** The whole path of `jwksRouter`, or `true` for `/.well-known/jwks.json`. Default false: the app has no `jwksRouter`. */
  jwks?: string | boolean | undefined
  /** The whole path of the sessions of `createAuth`, or `true` for `/sessions`. Default false: the app has no sessions. */
  sessions?: string | boolean | undefined
  /** The name of the bearer scheme in the document. Default `bearer`. */
  schemeName?: string | undefined
  /**
   * The host's own operations, by path. The document then has only the components that an operation uses. Default: none, and all
   * components, for operations that the host adds to the document.
   */
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
