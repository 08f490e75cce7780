import { type Answer, type HeaderName, refusalAnswer } from '../http/shared/answers.js'
import { AuthError, type AuthErrorCode, type AuthErrorDetails, type Part, REFUSALS } from '../shared/errors.js'
import { headerOf } from './headers.js'
import type { Example, Header, MediaType, Response, Schema } from './types.js'

/** Where a refusal has details of its own that the client sees: one sample of each of its forms, named. */
const SAMPLES: Partial<Record<AuthErrorCode, Record<string, AuthErrorDetails>>> = {
  too_many_attempts: { too_many_attempts: { retryAfter: 900 } },
  invalid_token: { invalid_token: {}, expired: { reason: 'expired' } },
  insufficient_scope: { insufficient_scope: { scope: ['reports:read'] } },
}

/** The refusals that a client can get: of one part, or of any. */
export function codesOf(part?: Part): AuthErrorCode[] {
  const codes = Object.keys(REFUSALS) as AuthErrorCode[]
  return codes.filter((code) => !REFUSALS[code].unseen && (part === undefined || REFUSALS[code].by.includes(part)))
}

/** A part's refusals by their status, made of what it really answers. */
export function refusalResponses(part: Part): Record<string, Response> {
  const responses: Record<string, Response> = {}
  for (const code of codesOf(part)) {
    const { status } = REFUSALS[code]
    responses[status] ??= responseOf(
      part,
      codesOf(part).filter((other) => REFUSALS[other].status === status),
    )
  }
  return responses
}

/** The response of a part's refusals with one status. */
function responseOf(part: Part, codes: readonly AuthErrorCode[]): Response {
  const samples = codes.flatMap((code) =>
    Object.entries(SAMPLES[code] ?? { [code]: {} }).map(([name, details]) => ({
      name,
      answer: refusalAnswer(part, new AuthError(code, details), 'https://api.example.com'),
    })),
  )
  const answers = samples.map(({ answer }) => answer)
  const examples = samples.map(({ name, answer }): [string, Example] => [name, exampleOf(answer)])
  const schema = {
    allOf: [{ $ref: '#/components/schemas/AuthProblem' }],
    type: 'object',
    required: ['status', 'code'],
    properties: { status: { enum: [...new Set(answers.map(({ status }) => status))] }, code: { enum: codes } },
  }
  const description = codes.map(descriptionOf).join('\n\n')
  return { description, ...messageOf(answers, schema, Object.fromEntries(examples)) }
}

function descriptionOf(code: AuthErrorCode): string {
  const { message, empty } = REFUSALS[code]
  // In Markdown, what stands in angle brackets is HTML.
  return `\`${code}\`: ${message.replaceAll('<', '\\<')}${empty ? ' The body is empty.' : ''}`
}

function exampleOf({ body }: Answer): Example {
  return { value: body && JSON.parse(body) }
}

/**
 * Headers and content of answers with one status.
 * @param answers as they are sent; a header that one of them lacks is not required
 */
export function messageOf(
  answers: readonly Answer[],
  schema: Schema,
  examples: Record<string, Example> = {},
): Pick<Response, 'headers' | 'content'> {
  const valuesOf = (name: HeaderName) => answers.flatMap(({ headers }) => headers[name] ?? [])
  const names = new Set(answers.flatMap(({ headers }) => Object.keys(headers) as HeaderName[]))
  const headers: Record<string, Header> = {}
  for (const name of names) {
    const values = valuesOf(name)
    if (name !== 'Content-Type') headers[name] = headerOf(name, values, values.length === answers.length)
  }
  const media = { schema, ...shown(examples) }
  const content = valuesOf('Content-Type').map((type) => [typeOf(type), media])
  return { headers, ...(content.length > 0 && { content: Object.fromEntries(content) }) }
}

/** One alone needs no name, for which tools would show a list to choose from. */
function shown(examples: Record<string, Example>): Pick<MediaType, 'example' | 'examples'> {
  const [first, ...others] = Object.values(examples)
  if (others.length > 0) return { examples }
  return first ? { example: first.value } : {}
}

/** Without its parameters, as tools that read the document compare it. */
const typeOf = (contentType: string) => contentType.replace(/;.*/, '')
