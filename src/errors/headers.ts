import { own } from '../options/values.js'
import { REFUSALS, type Refusal } from './codes.js'

/**
 * The headers of a response, by name.
 * @inline
 */
export type Headers = Readonly<Record<string, string>>

/** Keeps every response about a token or a password out of caches (RFC 6749 section 5.1). */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/**
 * Keeps the response of a guarded route out of shared caches. `no-cache`, because a browser would otherwise send a stored file to its next
 * user: without a maximum age, it derives one from `Last-Modified` (RFC 9111 sections 4.2.2 and 5.2.2.4).
 */
export const REVALIDATED = 'private, no-cache'

/** The facts of a guard in the headers of its refusals. */
export interface HeaderFacts {
  readonly realm: string
  /** The authentication scheme. Default `Bearer`. */
  readonly scheme?: { readonly name: string } | undefined
  /** The scopes that the route requires, all of them. Default: none. */
  readonly scope?: readonly string[] | undefined
  /** The scopes of which the route requires one. Default: none. */
  readonly anyScope?: readonly string[] | undefined
}

/** The members of a refusal that its challenge has. */
interface Challenged {
  readonly code: string
  readonly message: string
  readonly scope?: readonly string[]
  readonly maxAge?: number
}

/** Returns the challenge of a refusal, if it has one (RFC 6750 section 3, RFC 9110 section 11.6.1, RFC 9470 section 3). */
export function challengeOf(refusal: Challenged, facts: HeaderFacts = { realm: '' }): Headers {
  const { realm, scheme } = facts
  const { code, message } = refusal
  const error = (REFUSALS as Readonly<Record<string, Pick<Refusal, 'challenge'>>>)[code]?.challenge
  if (error === undefined) return {}
  // A client asks for these scopes with its next token, so it is not refused a second time.
  const ofRoute = [...(own(facts, 'scope') ?? []), ...(own(facts, 'anyScope') ?? [])]
  const scope = code === 'insufficient_scope' ? [own(refusal, 'scope') ?? []].flat() : ofRoute
  const maxAge = code === 'insufficient_user_authentication' ? own(refusal, 'maxAge') : undefined
  const parameters = {
    realm,
    ...(error && { error, error_description: message }),
    ...(maxAge !== undefined && { max_age: maxAge }),
    ...(scope.length > 0 && { scope: [...new Set(scope)].join(' ') }),
  }
  const list = Object.entries(parameters).map(([name, value]) => `${name}=${quoted(value)}`)
  return { 'WWW-Authenticate': `${scheme?.name ?? 'Bearer'} ${list.join(', ')}` }
}

/**
 * Returns a quoted string (RFC 9110 section 5.6.4). A space replaces what a challenge cannot hold: the message of a refusal may be from
 * the host's verifier.
 */
function quoted(value: unknown): string {
  return `"${String(value)
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/["\\]/g, '\\$&')}"`
}

/** The characters that Node sends in a header (RFC 9110 section 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/

/** The headers that an `AuthError` may bring to a response, each with its values. */
const OF_ERRORS: Readonly<Record<string, RegExp>> = {
  Accept: HEADER_VALUE,
  Allow: HEADER_VALUE,
  'Retry-After': /^\d+$/,
  'WWW-Authenticate': HEADER_VALUE,
}

/** Returns the headers of a refusal that a response may have. The refusal may be the host's, with any headers. */
export function safeHeaders({ code, headers }: { readonly code: string; readonly headers: Headers }): Headers {
  const isOfHost = !Object.hasOwn(REFUSALS, code)
  const safe = Object.entries(Object(headers)).filter(([name, value]) => {
    const allowed = isOfHost && name !== 'Retry-After' ? HEADER_VALUE : own(OF_ERRORS, name)
    return typeof value === 'string' && allowed?.test(value)
  })
  return Object.fromEntries(safe) as Headers
}
