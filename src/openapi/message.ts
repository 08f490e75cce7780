import { AuthError, type AuthErrorDetails } from '../errors/auth-error.js'
import { type AuthErrorCode, REFUSALS } from '../errors/codes.js'
import { rowOf } from '../errors/refusal.js'
import { isSignInRefusal, type SignInRefusal } from '../errors/sign-in-refusal.js'
import type { Declaration } from '../http/declaration.js'
import { wrongMethod } from '../http/endpoint.js'
import { type HeaderName, type HttpResponse, refusalResponse } from '../http/responses.js'
import { headerOf } from './headers.js'
import type { Example, Header, MediaType, Response, Schema } from './types.js'

/** Named samples for refusals whose details appear in the response. */
const SAMPLES: Partial<Record<AuthErrorCode, Record<string, AuthErrorDetails>>> = {
  weak_password: { weak_password: { reason: 'too_short' } },
  too_many_attempts: { too_many_attempts: { retryAfter: 900 } },
  invalid_token: { invalid_token: {}, expired: { reason: 'expired' } },
  insufficient_user_authentication: { insufficient_user_authentication: { maxAge: 300 } },
  insufficient_scope: { insufficient_scope: { scope: ['reports:read'] } },
}

/** Returns codes in the order of their table, without those that no client receives. */
export const seenCodes = (
  given: Iterable<AuthErrorCode> = Object.keys(REFUSALS) as AuthErrorCode[],
): AuthErrorCode[] => {
  const codes = new Set(given)
  return (Object.keys(REFUSALS) as AuthErrorCode[]).filter((code) => codes.has(code) && !REFUSALS[code].unseen)
}

/** A refusal and the name of its example. */
type Sample = readonly [name: string, refusal: AuthError]

/** The facts about an endpoint that its refusals depend on. */
interface DescribedRefusals {
  /** The endpoints of the path, whose methods a `405` names. Default: none. */
  readonly ofPath?: readonly Pick<Declaration, 'method'>[]
  /** The refusals of the host. Default: none. */
  readonly ofHost?: readonly SignInRefusal[]
  /** True where the refusal of invalid credentials has a body too. Default: false. */
  readonly isProblem?: boolean | undefined
  /** The text of the `invalid_body` refusal. Default: that of the table of codes. */
  readonly ofBody?: string | undefined
  /** More refusals of this package, by the names of their examples. Default: none. */
  readonly others?: readonly Sample[]
}

/**
 * Returns refusals by status. They are made from real responses.
 */
export function refusalResponses(
  codes: Iterable<AuthErrorCode>,
  { ofPath = [], ofHost = [], isProblem = false, ofBody, others = [] }: DescribedRefusals = {},
): Record<string, Response> {
  const samplesOf = (code: AuthErrorCode): Sample[] => {
    if (code === 'method_not_allowed') return [[code, wrongMethod(ofPath)]]
    const all = code === 'invalid_body' ? { [code]: { message: ofBody } } : (SAMPLES[code] ?? { [code]: {} })
    return Object.entries(all).map(([name, details]) => [name, new AuthError(code, details)])
  }
  const refusals = [
    ...seenCodes(codes).flatMap(samplesOf),
    ...others,
    ...ofHost.map((refusal) => [refusal.code, refusal] as const),
  ]
  const statuses = [...new Set(refusals.map(([, { status }]) => status))]
  const withStatus = (status: number) => refusals.filter(([, refusal]) => refusal.status === status)
  return Object.fromEntries(statuses.map((status) => [status, responseOf(status, withStatus(status), isProblem)]))
}

/** Returns what a document says of a code. Only `invalid_body` has a message for each endpoint. */
function rowIn(refusal: AuthError): Pick<AuthError, 'message'> {
  const row = rowOf(refusal)
  return row && refusal.code === 'invalid_body' ? { ...row, message: refusal.message } : (row ?? refusal)
}

function responseOf(status: number, refusals: readonly Sample[], isProblem: boolean): Response {
  const isEmpty = (row: object) => 'empty' in row && !isProblem
  const samples = refusals.map(([name, refusal]) => ({ name, response: refusalResponse(refusal, isProblem) }))
  const rows = new Map(refusals.map(([, refusal]) => [refusal.code, rowIn(refusal)]))
  const responses = samples.map(({ response }) => response)
  const examples = samples.flatMap(({ name, response: { body } }) =>
    body ? [[name, { value: JSON.parse(body) }]] : [],
  )
  const schema = {
    allOf: [{ $ref: '#/components/schemas/AuthProblem' }],
    type: 'object',
    required: ['status', 'code'],
    properties: {
      status: { enum: [status] },
      code: { enum: [...rows].flatMap(([code, row]) => (isEmpty(row) ? [] : [code])) },
    },
  }
  const description = [...rows].map(([code, row]) => descriptionOf(code, row.message, isEmpty(row))).join('\n\n')
  const { content, ...message } = messageOf(responses, schema, Object.fromEntries(examples))
  // OpenAPI has no optional body: tools complain about an empty response whose status has content. A client needs the codes of the host.
  const mayBeEmpty = [...rows.values()].some(isEmpty) && !refusals.some(([, refusal]) => isSignInRefusal(refusal))
  return { description, ...message, ...(content && !mayBeEmpty && { content }) }
}

function descriptionOf(code: string, message: string, isEmpty: boolean): string {
  // In Markdown, text in angle brackets is HTML.
  return `\`${code}\`: ${message.replaceAll('<', '\\<')}${isEmpty ? ' The body is empty.' : ''}`
}

/**
 * Returns headers and content of responses with one status.
 * @param responses sample responses; a header that a sample lacks is not required
 */
export function messageOf(
  responses: readonly HttpResponse[],
  schema: Schema,
  examples: Record<string, Example> = {},
): Pick<Response, 'headers' | 'content'> {
  const valuesOf = (name: HeaderName) => responses.flatMap(({ headers }) => headers[name] ?? [])
  const names = new Set(responses.flatMap(({ headers }) => Object.keys(headers) as HeaderName[]))
  const headers: Record<string, Header> = {}
  for (const name of names) {
    const values = valuesOf(name)
    if (name !== 'Content-Type') headers[name] = headerOf(name, values, values.length === responses.length)
  }
  const media = { schema, ...shown(examples) }
  const content = valuesOf('Content-Type').map((type) => [typeOf(type), media])
  return { headers, ...(content.length > 0 && { content: Object.fromEntries(content) }) }
}

/** Returns the examples. A single example has no name, because tools show a list for named examples. */
function shown(examples: Record<string, Example>): Pick<MediaType, 'example' | 'examples'> {
  const [first, ...others] = Object.values(examples)
  if (others.length > 0) return { examples }
  return first ? { example: first.value } : {}
}

/** Returns the media type without parameters, because OpenAPI tools compare it without them. */
const typeOf = (contentType: string) => contentType.replace(/;.*/, '')
