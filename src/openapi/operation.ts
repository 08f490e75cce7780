import { type AuthErrorCode, REFUSALS } from '../errors/codes.js'
import type { SignInRefusal } from '../errors/sign-in-refusal.js'
import { RECENT_MS } from '../features/feature.js'
import { codesOf, type Declaration, type DescribedApp, type SchemaOrName, successesOf } from '../http/declaration.js'
import { REFRESH_COOKIE } from '../http/refresh-cookie-name.js'
import { REQUEST_TYPES } from '../http/responses.js'
import { guardedOperation } from './guarded-operation.js'
import { headerOf } from './headers.js'
import { messageOf, refusalResponses, seenCodes } from './message.js'
import type { Operation, RequestBody, Response, Schema } from './types.js'

/** The facts that the operations of a document have in common. */
export interface Described extends DescribedApp {
  readonly tag: string
  readonly schemeName: string
  /** Refusals of the host. */
  readonly refusals: readonly SignInRefusal[]
}

/**
 * Describes an endpoint.
 * @param ofPath all endpoints of its path
 */
export function operationOf(one: Declaration, ofPath: readonly Declaration[], described: Described): Operation {
  const { id, summary, description, guard, path, isProblem } = one
  const { tag, schemeName } = described
  const parameters = [...pathParameters(path), ...cookieParameters(one, described)]
  const requestBody = bodyOf(one, described)
  const operation = {
    operationId: id,
    summary,
    description,
    ...(parameters.length > 0 && { parameters }),
    tags: [tag],
    ...(!guard && { security: [] }),
    ...(requestBody && { requestBody }),
    responses: {
      ...successResponses(one, described),
      ...refusalResponses(codesFor(one, described), {
        ofPath,
        isProblem,
        ofHost: refusalsOfHost(one, described),
        ofBody: messageOfBody(one, described),
      }),
    },
  }
  if (!guard) return operation
  const signedInWithin = guard.name === 'recent' ? `${RECENT_MS}ms` : undefined
  return guardedOperation(operation, { schemeName, acting: guard.name === 'session', signedInWithin })
}

/** Returns whether a client may have to send the body of an endpoint. */
const reads = ({ body }: Declaration, { modes }: DescribedApp): boolean =>
  body !== undefined && (body.of === undefined || modes.includes(body.of))

/** Returns the text of the `invalid_body` refusal. Undefined: the client sends no body. */
const messageOfBody = (one: Declaration, described: DescribedApp): string | undefined =>
  reads(one, described) ? one.body?.message : one.body?.messageWithout

/** Returns the refusals of the host, and those of a second factor that the host does not describe itself. */
function refusalsOfHost({ ofHost, ofFactor = [] }: Declaration, { refusals, hasFactors }: Described) {
  const own = ofHost ? refusals : []
  const ofApp = hasFactors ? ofFactor : []
  return [...own, ...ofApp.filter(({ code }) => !own.some((other) => other.code === code))]
}

/** Returns the codes that an endpoint gives in an app. */
function codesFor(one: Declaration, described: DescribedApp): Set<AuthErrorCode> {
  const { body, origin, responses, guard, sharesPath } = one
  const refusesPages = origin === 'own' || described.modes.includes('cookie')
  const own = codesOf({
    responses,
    body: reads(one, described) ? body : undefined,
    origin: refusesPages ? origin : undefined,
    sharesPath,
  })
  const statuses = new Set(seenCodes(own).map((code) => REFUSALS[code].status))
  // An operation has one response of each status, so its own one also has the codes of the guard.
  return new Set([
    ...own,
    ...(guard ? GUARD_CODES[guard.name] : []).filter((code) => statuses.has(REFUSALS[code].status)),
  ])
}

const OF_SESSION: readonly AuthErrorCode[] = [
  'invalid_request',
  'missing_token',
  'invalid_token',
  'overloaded',
  'unavailable',
]
const OF_USER: readonly AuthErrorCode[] = [...OF_SESSION, 'forbidden']

/** The codes of each guard of endpoints. */
const GUARD_CODES: Readonly<Record<NonNullable<Declaration['guard']>['name'], readonly AuthErrorCode[]>> = {
  session: OF_SESSION,
  user: OF_USER,
  recent: [...OF_USER, 'insufficient_user_authentication'],
}

const schemaOf = (schema: SchemaOrName): Schema =>
  typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))

/** Returns the cookie of an endpoint that pages send it to, instead of a body. */
const cookieParameters = ({ body }: Declaration, { modes }: DescribedApp) =>
  body?.of === 'body' && modes.includes('cookie')
    ? [
        {
          name: REFRESH_COOKIE,
          in: 'cookie',
          required: false,
          description: 'The refresh token of a page. The browser sends it, and scripts cannot read it.',
          schema: { type: 'string' },
        },
      ]
    : []

function bodyOf(one: Declaration, described: DescribedApp): RequestBody | undefined {
  const { body } = one
  if (!body || !reads(one, described)) return undefined
  const media = { schema: schemaOf(body.schema) }
  const isOptional = body.of !== undefined && described.modes.some((mode) => mode !== body.of)
  return { required: !isOptional, content: Object.fromEntries(REQUEST_TYPES.map((type) => [type, media])) }
}

function successResponses(one: Declaration, described: DescribedApp): Record<string, Response> {
  const seen = successesOf(one).filter(([, { of }]) => of === undefined || described.modes.includes(of))
  const responses = seen.flatMap(([status, success]): [number, Response][] => {
    const { schema = {}, sample, examples } = success
    const description = (described.responds && success.ownDescription) || success.description
    const response = success.respond(sample)
    const message = messageOf([response], schemaOf(schema), examples?.(described))
    if (!response.hasTag) return [[status, { description, ...message }]]
    const headers = { ...message.headers, ETag: headerOf('ETag', [], false) }
    const unchanged = 'The keys have not changed since the response with the `ETag` in `If-None-Match`.'
    return [
      [status, { description, ...message, headers }],
      [304, { description: unchanged, headers }],
    ]
  })
  return Object.fromEntries(responses)
}
