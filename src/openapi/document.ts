import { type FieldNames, fieldsOption } from '../login/body/field-names.js'
import { text } from '../options/checks.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, type Check, checkThat, optional, readOptions } from '../options/read-options.js'
import { isPlainObject } from '../options/values.js'
import { baseUrl } from '../options/web-url.js'
import {
  doneResponse,
  ENDPOINTS,
  jsonResponse,
  keysResponse,
  REQUEST_TYPES,
  tokenResult,
} from '../refusals/responses.js'
import { guardComponents, guardedOperation, schemeName } from './guarded-operation.js'
import { headerOf } from './headers.js'
import { messageOf, refusalResponses } from './responses.js'
import { AuthProblem, credentialsSchema, SessionList, TokenKeySet, TokenResult } from './schemas.js'
import type { OpenApiDocument, Operation, PathItem, Response, Schema } from './types.js'

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

const TAG = { name: 'Authentication', description: 'Tokens, the keys that verify them, and sessions.' }

/**
 * Creates the OpenAPI 3.1 document of the token endpoint, of `jwksRouter` and of `sessionRouter`. Its components have the bearer scheme and the guard's
 * responses. Each call returns a new document, so the host can add operations to it.
 * @throws TypeError that names the invalid option
 */
export function openApiDocument(options?: OpenApiOptions): OpenApiDocument {
  const read = readOptions<OpenApiOptions, typeof schema>('openApiDocument', options, schema, aliases)
  const { title, version, servers, path, fields, tokenResponse, jwks, sessions } = read
  const tokenSchemas = { TokenCredentials: credentialsSchema(fields), TokenResult: tokenResponse ?? TokenResult }
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title, version },
    ...(servers.length > 0 && { servers: servers.map((url) => ({ url })) }),
    tags: path || jwks || sessions ? [TAG] : [],
    paths: {
      ...(path && { [path]: { post: issueToken(tokenResponse === undefined) } }),
      ...(jwks && { [jwks]: { get: listKeys() } }),
      ...(sessions && sessionPaths(sessions, read.schemeName)),
      ...read.paths,
    },
    components: {
      schemas: {
        ...(path && tokenSchemas),
        ...(jwks && { TokenKeySet }),
        ...(sessions && { SessionList }),
        AuthProblem,
      },
      responses: guardComponents(),
      securitySchemes: { [read.schemeName]: BEARER },
    },
  }
  if (read.paths) removeUnused(document)
  return structuredClone(document)
}

/** Removes the components that no operation uses. Linters complain about them. */
function removeUnused({ paths, components }: OpenApiDocument): void {
  const keep = (kind: 'responses' | 'schemas', users: unknown) => {
    const text = JSON.stringify(users)
    for (const name of Object.keys(components[kind])) {
      if (!text.includes(`"#/components/${kind}/${name}"`)) delete components[kind][name]
    }
  }
  keep('responses', paths)
  keep('schemas', [paths, components.responses])
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as Partial<Operation>[])
  const used = operations.flatMap(({ security = [] }) => security.flatMap(Object.keys))
  for (const name of Object.keys(components.securitySchemes)) {
    if (!used.includes(name)) delete components.securitySchemes[name]
  }
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'The token from the response of the token endpoint (RFC 6750 section 2.1).',
}

/** @param isOwn whether the response is that of this package, which has an example */
function issueToken(isOwn: boolean): Operation {
  const credentials = { schema: { $ref: '#/components/schemas/TokenCredentials' } }
  const result = tokenResult('eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln', new Date('2026-11-20T22:28:53.000Z'))
  const sample = jsonResponse(JSON.stringify(result))
  const schema = { $ref: '#/components/schemas/TokenResult' }
  return {
    operationId: 'issueToken',
    summary: 'Get a token',
    description: 'Authenticates an account by its password. The request has no realm.',
    tags: [TAG.name],
    security: [],
    requestBody: { required: true, content: Object.fromEntries(REQUEST_TYPES.map((type) => [type, credentials])) },
    responses: {
      200: {
        description: isOwn ? 'The token and its expiration time.' : 'The token.',
        ...messageOf([sample], schema, isOwn ? { token: { value: result } } : {}),
      },
      ...refusalResponses('token'),
    },
  }
}

function listKeys(): Operation {
  const { headers, content } = messageOf([keysResponse('')], { $ref: '#/components/schemas/TokenKeySet' })
  const caching = { ...headers, ETag: headerOf('ETag', [], false) }
  return {
    operationId: 'listTokenKeys',
    summary: 'Get the public keys that verify tokens',
    description: 'A JWK set (RFC 7517 section 5).',
    tags: [TAG.name],
    security: [],
    responses: {
      200: { description: 'The keys.', headers: caching, ...(content && { content }) },
      304: {
        description: 'The keys have not changed since the response that `If-None-Match` names.',
        headers: caching,
      },
      ...refusalResponses('keys'),
    },
  }
}

/** Returns the paths of `sessionRouter` below its mount path. The guard describes the `503`, which is the same. */
function sessionPaths(mount: string, schemeName: string): Record<string, PathItem> {
  const below = (path: string) => (mount === '/' ? path : `${mount}${path === '/' ? '' : path}`)

  function operation(
    part: 'sessions' | 'session' | 'signOut',
    members: Omit<Operation, 'responses'>,
    sample: Response,
  ) {
    const { 503: _, ...refusals } = refusalResponses(part)
    const status = sample.content ? 200 : 204
    return guardedOperation(
      { ...members, tags: [TAG.name], responses: { [status]: sample, ...refusals } },
      { schemeName },
    )
  }
  const ended = (description: string): Response => ({ description, ...messageOf([doneResponse()], {}) })
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
  const listed = messageOf([jsonResponse('')], { $ref: '#/components/schemas/SessionList' })

  return {
    [below(ENDPOINTS.sessions.path)]: {
      get: operation(
        'sessions',
        {
          operationId: 'listSessions',
          summary: 'List your sessions',
          description: 'The devices on which the account is signed in.',
        },
        { description: 'The sessions of the account, newest first.', ...listed },
      ),
      delete: operation(
        'sessions',
        {
          operationId: 'endOtherSessions',
          summary: 'End all other sessions',
          description: 'The session of the request stays.',
        },
        ended('Every API of this environment now refuses the tokens of the other sessions.'),
      ),
    },
    [below(ENDPOINTS.session.path)]: {
      delete: operation(
        'session',
        {
          operationId: 'endSession',
          summary: 'End one session',
          description: 'Any session of the account, also that of the request.',
          parameters,
        },
        ended('Every API of this environment now refuses its token.'),
      ),
    },
    [below(ENDPOINTS.signOut.path)]: {
      post: operation(
        'signOut',
        { operationId: 'signOut', summary: 'Sign out', description: 'Ends the session of the request.' },
        ended("Every API of this environment now refuses the request's token."),
      ),
    },
  }
}
