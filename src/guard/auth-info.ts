import type { IncomingMessage } from 'node:http'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { readBearer } from './bearer-header.js'
import { type AuthenticatedRequest, authOf } from './require-bearer.js'

/** The `AuthInfo` of the MCP SDK: what a tool learns about the token of its request. */
export interface McpAuthInfo {
  /** The token's text. An empty string when it did not come in the header `Authorization: Bearer`. Do not log it. */
  token: string
  /** The client that the token was issued to. An empty string when the token names none. */
  clientId: string
  /** The scopes. */
  scopes: string[]
  /** The expiration, in seconds since the epoch. */
  expiresAt: number
  /** The audience (RFC 8707), if it is a URL. */
  resource?: URL
  /** Further facts. */
  extra: {
    /** The verified token, with the account and the claims. */
    auth: VerifiedToken
  }
}

/**
 * Returns the token of a guarded request as the MCP SDK expects it in `req.auth`. Assign it just before the transport handles the request,
 * because `authOf` does not read it.
 * @throws TypeError naming the route when no guard has admitted the request
 */
export function authInfoOf(req: IncomingMessage & AuthenticatedRequest): McpAuthInfo {
  const auth = authOf(req)
  const { clientId = '', scopes, audience, expiresAt } = auth
  return {
    token: readBearer(req) ?? '',
    clientId,
    scopes: [...scopes],
    expiresAt: Math.floor(expiresAt.getTime() / 1000),
    ...(URL.canParse(audience) && { resource: new URL(audience) }),
    extra: { auth },
  }
}
