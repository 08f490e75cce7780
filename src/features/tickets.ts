import type { IncomingMessage, ServerResponse } from 'node:http'
import { AuthError } from '../errors/auth-error.js'
import { REVALIDATED } from '../errors/headers.js'
import type { TokenFrom } from '../guard/bearer-header.js'
import type { GuardedRequest } from '../guard/guard.js'
import { authOf, type BearerGuard } from '../guard/require-bearer.js'
import { type Duration, duration, text } from '../options/checks.js'
import { optional, readOptions } from '../options/read-options.js'
import { memberOf, own, parseJson } from '../options/values.js'
import { sessionIdOf } from '../sessions/session.js'
import type { TokenIssuer } from '../tokens/tokens.js'
import { signedInAtOf } from '../tokens/verified-token.js'

/** The route that a ticket is for. */
export interface TicketOptions {
  /** URL path, including the mount path but not the query, such as `/reports/7.pdf`. */
  path: string
  /** Request method. Default: `GET`. */
  method?: string | undefined
  /** Time until the ticket expires, from 1 s to 10 min. A ticket never outlives its token. Default: `'60s'`. */
  lifetime?: Duration | undefined
}

/** The query member that holds a ticket. */
const MEMBER = 'ticket='

const FOREIGN =
  'To get a ticket, send a token that this API issued at a sign-in. API keys, old tokens and tokens from other issuers are refused.'

/** A response to `HEAD` says what one to `GET` says, so both are one route (RFC 9110 section 9.3.2). */
const methodOf = (method: string | undefined) => (method === 'HEAD' ? 'GET' : method)

const schema = {
  path: text('a path like "/reports/7.pdf", without a query', /^\/[^?#\s]*$/),
  method: optional((value) => methodOf(text('a method in upper case', /^[A-Z]+$/)(value)), 'GET'),
  lifetime: optional(duration(1000, 600_000), 60_000),
}

/**
 * Returns the function that creates the ticket of a guarded request, for one path and one method. It keeps nothing: a ticket works until it
 * expires.
 * @param tokens the issuer of the tickets
 */
export function createTickets(tokens: TokenIssuer) {
  /**
   * @throws TypeError for an invalid option, and for a request without a verified token; AuthError `invalid_token` for a token of
   * `alsoAccept` or one that has expired, `unavailable`
   */
  return async function create(req: IncomingMessage, given: TicketOptions): Promise<string> {
    const caller = 'auth.ticket'
    const { path, method, lifetime } = readOptions<TicketOptions, typeof schema>(caller, given, schema)
    const auth = authOf(req)
    const { id: tokenId, accountId, scopes, claims } = auth
    const now = Number(tokens.now())
    const left = auth.expiresAt.getTime() - now
    // The client has sent an API key or an old token, which a host cannot prevent.
    const isForeign = auth.issuer !== tokens.issuer
    if (isForeign) throw new AuthError('invalid_token', { reason: 'issuer', accountId, tokenId, message: FOREIGN })
    if (left <= 0) throw new AuthError('invalid_token', { reason: 'expired', accountId, tokenId })
    const subject = {
      accountId,
      scopes,
      sessionId: sessionIdOf(auth),
      // An administrator who acts as the account stays visible. JSON omits what is undefined. A URL shows no other claim.
      claims: { act: memberOf(claims, 'act'), method, path },
      // As old as the token, because a `tokensValidAfter` that refuses the token must also refuse a ticket of a request in progress.
      issuedAt: auth.issuedAt,
      // Otherwise the ticket of an old sign-in would be a recent one for `signedInWithin`.
      signedInAt: signedInAtOf(auth),
    }
    // A lifetime begins at the time of issue.
    const age = Math.max(0, inSeconds(now) - inSeconds(auth.issuedAt.getTime()))
    const ticket = await tokens.issue({ ...subject, lifetime: `${age + Math.max(1000, Math.min(lifetime, left))}ms` })
    return ticket.token
  }
}

/** Returns a time in milliseconds, to the second. */
const inSeconds = (time: number) => Math.floor(time / 1000) * 1000

type TicketRequest = IncomingMessage & { originalUrl?: string }

/** Returns the path of a request, and the tickets in its query, as they were sent. */
function sentIn({ originalUrl, url }: TicketRequest) {
  const [path, ...query] = String(originalUrl ?? url).split('?')
  const pairs = query.join('?').split('&')
  return { path, tickets: pairs.flatMap((pair) => (pair.startsWith(MEMBER) ? [pair.slice(MEMBER.length)] : [])) }
}

/** Returns the guard of a route that admits a token or a ticket. */
export function tokenOrTicket<Auth>(byToken: BearerGuard<Auth>, byTicket: BearerGuard<Auth>): BearerGuard<Auth> {
  const guardOf = (req: GuardedRequest) => (hasTicket(req) ? byTicket : byToken)
  return Object.assign(
    function eitherGuard(req: GuardedRequest, res: ServerResponse, next: (error?: unknown) => void): void {
      // RFC 6750 section 2.3: shared caches store the response to a URL, unlike that to a header.
      if (hasTicket(req)) res.setHeader('Cache-Control', REVALIDATED)
      guardOf(req)(req, res, next)
    },
    { authenticate: (req: GuardedRequest) => guardOf(req).authenticate(req) },
  )
}

/** Returns whether a request has a ticket, and no header for the guard. */
const hasTicket = (req: TicketRequest) => req.headers.authorization === undefined && sentIn(req).tickets.length > 0

/**
 * Returns the ticket of a request that has one, if it is for its path and its method. The signature, which is verified next, covers both.
 * @throws AuthError `invalid_token` for another route, and for several tickets
 */
export const ticketFrom: TokenFrom<TicketRequest> = (req) => {
  const { path, tickets } = sentIn(req)
  const [ticket, ...others] = tickets as [string, ...string[]]
  const payload = Object(parseJson(Buffer.from(String(ticket.split('.')[1]), 'base64url').toString()))
  const isRoute = own(payload, 'path') === path && own(payload, 'method') === methodOf(req.method)
  if (!isRoute || others.length > 0) throw new AuthError('invalid_token', { reason: 'audience' })
  return ticket
}
