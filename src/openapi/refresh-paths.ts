import type { AuthErrorCode } from '../errors/codes.js'
import { doneResponse, ENDPOINTS, REFRESH_COOKIE, REQUEST_TYPES, type RefreshMode } from '../http/responses.js'
import { messageOf, refusalResponses } from './responses.js'
import type { Operation, PathItem, Response, Schema } from './types.js'

/** The ways in which clients keep their refresh tokens, as the option `refresh` of `openApiDocument` names them. */
export type RefreshModes = readonly RefreshMode[]

export const RefreshRequest: Schema = {
  type: 'object',
  required: ['refreshToken'],
  properties: { refreshToken: { type: 'string', description: 'The newest refresh token of the session.' } },
}

/** Adds the member of the mode `'body'` to the schema of a token response. */
export function withRefreshMember(schema: Schema, modes: RefreshModes): Schema {
  const refreshToken = {
    type: 'string',
    description: 'The refresh token. Keep it secret, and replace it after each refresh.',
  }
  const isAlways = modes.length === 1
  return modes.includes('body') ? withMember(schema, { refreshToken }, isAlways ? ['refreshToken'] : []) : schema
}

/** Adds the member of the mode `'cookie'` to the schema of the credentials. */
export function withRememberMember(schema: Schema, modes: RefreshModes): Schema {
  const remember = { type: 'boolean', description: 'False to sign out when the browser ends.', default: true }
  return modes.includes('cookie') ? withMember(schema, { remember }) : schema
}

function withMember(schema: Schema, member: Record<string, Schema>, required: string[] = []): Schema {
  const before = schema as { required?: string[]; properties?: Record<string, Schema> }
  const all = [...(before.required ?? []), ...required]
  return { ...schema, ...(all.length > 0 && { required: all }), properties: { ...before.properties, ...member } }
}

/** The refusals that a refresh or its sign-out gives only where the refresh token is in the body, or only where it is in the cookie. */
const ONLY_IN: Record<RefreshMode, readonly AuthErrorCode[]> = {
  body: ['unsupported_media_type', 'cross_site_form', 'body_too_large'],
  cookie: ['cross_site_request'],
}

/** Returns the refusals that no client of these modes gets. */
const neverIn = (modes: RefreshModes): AuthErrorCode[] =>
  (['body', 'cookie'] as const).flatMap((mode) => (modes.includes(mode) ? [] : ONLY_IN[mode]))

/**
 * Returns the paths of refresh and of its sign-out.
 * @param token the response with a new token
 */
export function refreshPaths(
  path: string,
  modes: RefreshModes,
  tag: string,
  token: Response,
): Record<string, PathItem> {
  const hasBody = modes.includes('body')
  const hasCookie = modes.includes('cookie')
  const cookie = {
    name: REFRESH_COOKIE,
    in: 'cookie',
    required: false,
    description: 'The refresh token of a page. The browser sends it, and scripts cannot read it.',
    schema: { type: 'string' },
  }
  const sent = { schema: { $ref: '#/components/schemas/RefreshRequest' } }
  const body = Object.fromEntries(REQUEST_TYPES.map((type) => [type, sent]))
  const refusals = { except: neverIn(modes) }
  const request = {
    tags: [tag],
    security: [],
    ...(hasCookie && { parameters: [cookie] }),
    ...(hasBody && { requestBody: { required: !hasCookie, content: body } }),
  }
  const refresh: Operation = {
    ...request,
    operationId: 'refreshToken',
    summary: 'Get another token without a password',
    description:
      'Refreshes a session. Of several refreshes at the same time, each gets a token and the same refresh token.',
    responses: {
      200: { ...token, description: 'Another token, with the response of the token endpoint.' },
      ...(hasCookie && {
        204: { description: 'Nobody is signed in: the request has no cookie.', ...messageOf([doneResponse()], {}) },
      }),
      ...refusalResponses('refresh', refusals),
    },
  }
  const signOut: Operation = {
    ...request,
    operationId: 'endSignIn',
    summary: 'Sign out',
    description: 'Ends the session of a refresh token, also when its token has expired.',
    responses: {
      204: { description: 'The session is over, or there was none.', ...messageOf([doneResponse()], {}) },
      ...refusalResponses('tokenSignOut', refusals),
    },
  }
  return {
    [path + ENDPOINTS.refresh.path]: { post: refresh },
    [path + ENDPOINTS.tokenSignOut.path]: { post: signOut },
  }
}
