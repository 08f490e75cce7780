import type { NextFunction, Request, Response, Router } from 'express'
import type { Account } from '../accounts/account.js'
import type { EventSubject } from '../events/emitter.js'
import { addressOf, originOfRequest, type RequestOrigin } from '../http/origin.js'
import { createRefuser } from '../http/refuse.js'
import { ENDPOINTS, type Endpoint, type HttpResponse, wrongMethod } from '../http/responses.js'
import { hasUnreadBody, sendResponse } from '../http/send-response.js'
import { createTokenEndpoint } from '../login/token-endpoint.js'
import {
  readTokenRouterOptions,
  type TokenRouterOptions,
  type TokenRouterSettings,
} from '../login/token-router-options.js'
import { express } from '../packages/on-first-use.cjs'
import { createRefreshEndpoint, createSignOutEndpoint } from '../refresh/refresh-endpoint.js'
import { noteIssuing } from '../sessions/mistakes.js'

type Respond = (req: Request, res: Response, origin: RequestOrigin, subject: EventSubject) => Promise<HttpResponse>

/**
 * Creates the router with the token endpoint: `POST` e-mail and password, get a token and its expiration. With `refresh`, also its paths
 * `/refresh` and `/sign-out`. The router parses request bodies itself, and accepts a body that the host's parser has parsed.
 * @throws TypeError naming the option that is not valid
 */
export function tokenRouter<A extends Account>(options: TokenRouterOptions<A>): Router {
  return tokenRouterWith(readTokenRouterOptions(options))
}

/** Creates the router from options that were read. */
export function tokenRouterWith(settings: TokenRouterSettings): Router {
  const { path, sessions, tokens, refresh, bodyLimit } = settings
  sessions?.useFor([tokens.issuer], 'tokenRouter')
  noteIssuing(tokens, sessions)
  const router = express().Router({ caseSensitive: true, strict: true })

  function mount(at: string, part: Endpoint, respond: Respond): void {
    const refuse = createRefuser(settings, part)
    router.post(at, async function tokenEndpoint(req: Request, res: Response, next: NextFunction) {
      try {
        const origin = originOfRequest(req)
        const subject: EventSubject = { address: origin.address }
        const refused = (thrown: unknown) => refuse(thrown, subject, req, res, next)
        const response = await respond(req, res, origin, subject).catch(refused)
        if (response) sendResponse(res, response, hasUnreadBody(req, bodyLimit))
      } catch (error) {
        // An error while sending belongs to the host, and the call has had its event.
        next(error)
      }
    })
    router.all(at, function tokenMethodNotAllowed(req, res, next) {
      refuse(wrongMethod(part), { address: addressOf(req) }, req, res, next)
    })
  }

  mount(path, 'token', createTokenEndpoint(settings))
  if (refresh) {
    const withRefresh = { ...settings, refresh }
    mount(path + ENDPOINTS.refresh.path, 'refresh', createRefreshEndpoint(withRefresh))
    mount(path + ENDPOINTS.tokenSignOut.path, 'tokenSignOut', createSignOutEndpoint(withRefresh))
  }
  return router
}
