import { AuthError } from '../errors/auth-error.js'
import { GUARD_REFUSALS, NEEDS_SECOND_FACTOR } from '../guard/refuse.js'
import { bool, type Duration, scopeList, text, tokenAge } from '../options/checks.js'
import { type Checked, optional, readOptions } from '../options/read-options.js'
import { refusalResponses } from './message.js'
import type { Operation, Reference, Response, Responses, SecurityRequirement } from './types.js'

/** The `schemeName` option: a key of `components` (OpenAPI 3.1, section 4.8.7.1). */
export const schemeName = optional(text("a name of letters, digits, '.', '-' and '_'", /^[\w.-]+$/), 'bearer')

/** The options of `guardedOperation`, which describe the operation's guard. */
export interface GuardedOperationOptions {
  /** The guard's `scope`. Default: none. */
  scope?: string | readonly string[] | undefined
  /** The guard's `anyScope`. Default: none. */
  anyScope?: string | readonly string[] | undefined
  /** The guard's `signedInWithin`. Default: any age. */
  signedInWithin?: Duration | undefined
  /** The guard's `secondFactor`. Default: `false`. */
  secondFactor?: boolean | undefined
  /** The guard's `apiKeys`. Default: `false`. */
  apiKeys?: boolean | undefined
  /** The guard's `acting`. Default: `true`, and `false` with `signedInWithin`. */
  acting?: boolean | undefined
  /** The guard's `optional`. Default: `false`. */
  optional?: boolean | undefined
  /** The document's `schemeName`. Default: `'bearer'`. */
  schemeName?: string | undefined
}

const schema = {
  scope: optional(scopeList, [] as readonly string[]),
  anyScope: optional(scopeList),
  signedInWithin: optional(tokenAge),
  secondFactor: optional(bool, false),
  apiKeys: optional(bool, false),
  acting: optional(bool),
  optional: optional(bool, false),
  schemeName,
}

const aliases = { scopes: 'scope', requiredScopes: 'scope', scheme: 'schemeName', credentialsRequired: 'optional' }

/** The members that `guardedOperation` adds to an operation. */
export type GuardResponses = {
  /** The bearer scheme with the scopes. For an optional guard, also the alternative without a token. */
  security: SecurityRequirement[]
  /** The guard's responses and the operation's own responses. */
  responses: Responses
}

/** Returns the guard's responses for the components of `openApiDocument`. */
export function guardComponents(): Record<string, Response> {
  const noFactor = new AuthError('insufficient_user_authentication', { message: NEEDS_SECOND_FACTOR })
  const responses = Object.entries(refusalResponses(GUARD_REFUSALS.codes, { others: [['second_factor', noFactor]] }))
  return Object.fromEntries(responses.map(([status, response]) => [componentOf(status), response]))
}

const componentOf = (status: string) => `Bearer${status}`

/** The options that change what a `401` means. */
type Demands = Pick<Checked<typeof schema>, 'signedInWithin' | 'secondFactor' | 'apiKeys'>

function descriptionOf401({ signedInWithin, secondFactor, apiKeys }: Demands): Partial<Reference> {
  if (signedInWithin === undefined && !secondFactor && !apiKeys) return {}
  const causes = [
    ...(signedInWithin === undefined
      ? []
      : [`a sign-in that is more than ${Math.floor(signedInWithin / 1000)} seconds old (RFC 9470)`]),
    ...(secondFactor ? ['a sign-in without a second factor or a passkey'] : []),
  ]
  return { description: `${[apiKeys ? 'No valid token or API key' : 'No valid token', ...causes].join(', or ')}.` }
}

/**
 * Returns a copy of an operation with the bearer scheme and the guard's responses. The responses are references to the components
 * of `openApiDocument`. When both have a response for one status, the operation's response remains.
 * @throws TypeError that names the invalid option
 */
export function guardedOperation<O extends Operation>(
  operation: O,
  options?: GuardedOperationOptions,
): O & GuardResponses {
  const read = readOptions<GuardedOperationOptions, typeof schema>('guardedOperation', options, schema, aliases)
  const hasScope = read.scope.length > 0 || read.anyScope !== undefined
  const refusesActing = !(read.acting ?? read.signedInWithin === undefined)
  const may403 = hasScope || refusesActing
  const statuses = Object.keys(refusalResponses(GUARD_REFUSALS.codes)).filter((status) => status !== '403' || may403)
  const responses = statuses.map((status): [string, Reference] => [
    status,
    { $ref: `#/components/responses/${componentOf(status)}`, ...(status === '401' && descriptionOf401(read)) },
  ])
  // One of several requirements is enough (OpenAPI 3.1 section 4.8.30), as one of the scopes of `anyScope` is.
  const choices = read.anyScope?.map((scope) => [...read.scope, scope]) ?? [[...read.scope]]
  const security = [...(read.optional ? [{}] : []), ...choices.map((scopes) => ({ [read.schemeName]: scopes }))]
  return { ...operation, security, responses: { ...Object.fromEntries(responses), ...operation.responses } }
}
