import type { Request, Response } from 'express'
import type { EventSubject } from '../events/emitter.js'
import { assertOwnOrigin } from '../http/cross-site.js'
import type { RequestOrigin } from '../http/origin.js'
import type { HttpResponse } from '../http/responses.js'
import type { LogInWith } from './create-login.js'
import { createCredentialsReader } from './read-credentials.js'
import type { FinishSignIn } from './sign-in/finish-sign-in.js'
import type { TokenSettings } from './token-settings.js'

/** Creates the token endpoint: request → credentials → account → token → response. */
export function createTokenEndpoint(settings: TokenSettings, logIn: LogInWith, finishSignIn: FinishSignIn) {
  const { refresh, allowedOrigins } = settings
  const readCredentials = createCredentialsReader(settings)

  return async function signIn(
    req: Request,
    res: Response,
    origin: RequestOrigin,
    about: EventSubject,
  ): Promise<HttpResponse> {
    const mode = refresh?.modeOf(req)
    const { remember, ...credentials } = await readCredentials(req, origin)
    // A page of another origin could sign its visitor in with the account of an attacker.
    if (mode === 'cookie') assertOwnOrigin(req.headers, allowedOrigins)
    const known = await logIn(credentials, origin, about)
    return finishSignIn({ ...known, req, res, origin, about, mode, remember })
  }
}
