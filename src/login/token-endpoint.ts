import type { Request, Response } from 'express'
import type { EventSubject } from '../events/emitter.js'
import { assertOwnOrigin } from '../http/cross-site.js'
import type { RequestOrigin } from '../http/origin.js'
import { type HttpResponse, jsonResponse, tokenText } from '../http/responses.js'
import { issueNowOf } from '../tokens/verifier.js'
import { createCredentialsReader } from './read-credentials.js'
import { createFinish } from './sign-in/finish-sign-in.js'
import type { TokenRouterSettings } from './token-router-options.js'

/** Creates the token endpoint: request → credentials → account → token → response. */
export function createTokenEndpoint(settings: TokenRouterSettings) {
  const { tokens, respond, emailInEvents, sessions, refresh, allowedOrigins, login, emit } = settings
  const readCredentials = createCredentialsReader(settings)
  const issueNow = sessions || respond ? undefined : issueNowOf(tokens)
  const finishSignIn = createFinish(settings)

  return async function signIn(
    req: Request,
    res: Response,
    origin: RequestOrigin,
    subject: EventSubject,
  ): Promise<HttpResponse> {
    const mode = refresh?.modeOf(req)
    const { remember, ...credentials } = await readCredentials(req, origin)
    // A page of another origin could sign its visitor in with the account of an attacker.
    if (mode === 'cookie') assertOwnOrigin(req.headers, allowedOrigins)
    if (emailInEvents) subject.email = credentials.email
    const loggedIn = await login.logIn(credentials, origin, emit, subject)
    const now = issueNow?.(loggedIn.subject)
    const [issued, response] = now
      ? [now, jsonResponse(tokenText(now))]
      : await finishSignIn({ ...loggedIn, req, res, origin, mode, remember })
    const { accountId } = loggedIn.subject
    emit(subject, { type: 'token.issued', accountId, tokenId: issued.id, expiresAt: issued.expiresAt })
    return response
  }
}
