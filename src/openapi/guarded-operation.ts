import { bool, optional, readOptions, scopeList, text } from '../shared/options.js'
import { refusalResponses } from './responses.js'
import type { Operation, Reference, Response, Responses, SecurityRequirement } from './types.js'

/** A key of `components` (OpenAPI 3.1, section 4.8.7.1). */
export const schemeName = optional(text("a name of letters, digits, '.', '-' and '_'", /^[\w.-]+$/), 'bearer')

/** What `guardedOperation` has to know of the operation's guard. */
export interface GuardedOperationOptions {
  /** What the route's `requireBearer` has as `scope`. Default: none. */
  scope?: string | readonly string[] | undefined
  /** What the route's `requireBearer` has as `optional`. Default false. */
  optional?: boolean | undefined
  /** What `openApiDocument` has as `schemeName`. Default `bearer`. */
  schemeName?: string | undefined
}

const schema = { scope: optional(scopeList, [] as readonly string[]), optional: optional(bool, false), schemeName }

const aliases = { scopes: 'scope', requiredScopes: 'scope', scheme: 'schemeName', credentialsRequired: 'optional' }

/** What `guardedOperation` gives an operation. */
export type GuardAnswers = {
  /** The bearer scheme, with the scopes; where the guard is optional, nothing as another way. */
  security: SecurityRequirement[]
  /** The guard's answers, and the operation's own. */
  responses: Responses
}

/** The guard's answers, as `openApiDocument` has them in its components. */
export function guardComponents(): Record<string, Response> {
  const responses = Object.entries(refusalResponses('guard'))
  return Object.fromEntries(responses.map(([status, response]) => [componentOf(status), response]))
}

const componentOf = (status: string) => `Bearer${status}`

/**
 * An operation of the host's, with what a guard adds to it: the bearer scheme, and the guard's answers as references to the
 * components of `openApiDocument`. Of two answers with one status the operation's own stays. The operation is not changed.
 * @throws TypeError naming the option that cannot be used
 */
export function guardedOperation<O extends Operation>(
  operation: O,
  options?: GuardedOperationOptions,
): O & GuardAnswers {
  const read = readOptions<GuardedOperationOptions, typeof schema>('guardedOperation', options, schema, aliases)
  const statuses = Object.keys(refusalResponses('guard')).filter((status) => status !== '403' || read.scope.length > 0)
  const answers = statuses.map((status): [string, Reference] => [
    status,
    { $ref: `#/components/responses/${componentOf(status)}` },
  ])
  const security = [...(read.optional ? [{}] : []), { [read.schemeName]: [...read.scope] }]
  return { ...operation, security, responses: { ...Object.fromEntries(answers), ...operation.responses } }
}
