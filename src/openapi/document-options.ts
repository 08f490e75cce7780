import { type FieldNames, fieldsOption } from '../login/body/field-names.js'
import { text } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, type Check, checkThat, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { baseUrl } from '../options/web-url.js'
import { ENDPOINTS } from '../refusals/responses.js'
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
  /** The `fields` option of `tokenRouter`. Default `{ email: 'email', password: 'password' }`. */
  fields?: Partial<FieldNames> | undefined
  /**
   * The schema of the object that `respond` of `tokenRouter` returns, for example `{ type: 'object' }`. Default: `authenticationToken` and
   * `expiration`.
   */
  tokenResponse?: Schema | undefined
  /** The whole path of `jwksRouter`, or `true` for `/.well-known/jwks.json`. Default false: the app has no `jwksRouter`. */
  jwks?: string | boolean | undefined
  /** The whole path of `sessionRouter`, or `true` for `/sessions`. Default false: the app has no `sessionRouter`. */
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

const schema = {
  title: optional(nonEmpty, 'Token endpoint'),
  version: optional(nonEmpty, 'v2013'),
  servers: optional((value): string[] => (Array.isArray(value) ? value : [value]).map(baseUrl), []),
  path: optional(pathOr({ false: undefined }), ENDPOINTS.token.path),
  fields: fieldsOption,
  tokenResponse: optional(checkThat<Schema>("a schema, like { type: 'object' }", isPlainObject)),
  jwks: optional(pathOr({ false: undefined, true: ENDPOINTS.keys.path })),
  sessions: optional(pathOr({ false: undefined, true: '/sessions' })),
  schemeName,
  paths: optional(pathItems),
}

const aliases = aliasesOf({
  servers: 'issuer server url baseUrl',
  title: 'name',
  path: 'prefix tokenPath',
  tokenResponse: 'respond response',
  jwks: 'jwksPath keys',
  sessions: 'sessionRouter sessionsPath',
  schemeName: 'scheme',
})

export function readOpenApiOptions(options: OpenApiOptions | undefined) {
  return readOptions<OpenApiOptions, typeof schema>('openApiDocument', options, schema, aliases)
}
