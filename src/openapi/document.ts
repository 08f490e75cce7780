import { doneResponse, ENDPOINTS, jsonResponse, keysResponse, REQUEST_TYPES, tokenResult } from '../http/responses.js'
import { type OpenApiOptions, readOpenApiOptions } from './document-options.js'
import { guardComponents, guardedOperation } from './guarded-operation.js'
import { headerOf } from './headers.js'
import { RefreshRequest, refreshPaths, withRefreshMember, withRememberMember } from './refresh-paths.js'
import { messageOf, refusalResponses } from './responses.js'
import { authProblem, credentialsSchema, SessionList, TokenKeySet, TokenResult } from './schemas.js'
import type { OpenApiDocument, Operation, PathItem, Response } from './types.js'

const TAG = { name: 'Authentication', description: 'Tokens, the keys that verify them, and sessions.' }

/**
 * Creates the OpenAPI 3.1 document of the token endpoint with its refresh, the public keys and the sessions. Its components have the
 * bearer scheme and the guard's responses. Each call returns a new document, so the host can add operations to it.
 * @throws TypeError that names the invalid option
 */
export function openApiDocument(options?: OpenApiOptions): OpenApiDocument {
  const read = readOpenApiOptions(options)
  const { title, version, servers, path, extraFields, tokenRequest, tokenResponse, refresh, jwks, sessions } = read
  const refreshes = path !== undefined && refresh.length > 0
  const tokenSchemas = {
    TokenCredentials: withRememberMember(tokenRequest ?? credentialsSchema(extraFields), refresh),
    TokenResult: withRefreshMember(tokenResponse ?? TokenResult, refresh),
    ...(refresh.includes('body') && { RefreshRequest }),
  }
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title, version },
    ...(servers.length > 0 && { servers: servers.map((url) => ({ url })) }),
    tags: path || jwks || sessions ? [TAG] : [],
    paths: {
      ...(path && { [path]: { post: issueToken(read) } }),
      ...(refreshes && refreshPaths(path, refresh, TAG.name, tokenResponseOf(read))),
      ...(jwks && { [jwks]: { get: listKeys() } }),
      ...(sessions && sessionPaths(sessions, read.schemeName)),
      ...read.paths,
    },
    components: {
      schemas: {
        ...(path && tokenSchemas),
        ...(jwks && { TokenKeySet }),
        ...(sessions && { SessionList }),
        AuthProblem: authProblem(read.refusals),
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

type ReadOptions = ReturnType<typeof readOpenApiOptions>

/** Returns the response with a token. Only that of this package has an example: one for clients in each way to keep a refresh token. */
function tokenResponseOf({ tokenResponse, refresh }: ReadOptions): Response {
  const isOwn = tokenResponse === undefined
  const result = tokenResult('eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln', new Date('2026-11-20T22:28:53.000Z'))
  const examples = {
    ...(!(refresh.includes('body') && refresh.length === 1) && { token: { value: result } }),
    ...(refresh.includes('body') && {
      tokenAndRefreshToken: { value: { ...result, refreshToken: '019ab0f1-7c3e-7000-8000-0123456789ab.0.c2ln' } },
    }),
  }
  return {
    description: isOwn ? 'The token and its expiration time.' : 'The token.',
    ...messageOf(
      [jsonResponse(JSON.stringify(result))],
      { $ref: '#/components/schemas/TokenResult' },
      isOwn ? examples : {},
    ),
  }
}

function issueToken(read: ReadOptions): Operation {
  const { refresh, refusals } = read
  const credentials = { schema: { $ref: '#/components/schemas/TokenCredentials' } }
  return {
    operationId: 'issueToken',
    summary: 'Get a token',
    description: 'Authenticates an account by its password. The request has no realm.',
    tags: [TAG.name],
    security: [],
    requestBody: { required: true, content: Object.fromEntries(REQUEST_TYPES.map((type) => [type, credentials])) },
    responses: {
      200: tokenResponseOf(read),
      ...refusalResponses('token', { except: refresh.includes('cookie') ? [] : ['cross_site_request'], own: refusals }),
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

/** Returns the paths of the sessions below its mount path. The guard describes the `503`, which is the same. */
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
      { schemeName, acting: part === 'signOut' },
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
