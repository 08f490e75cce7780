import type { NextFunction, Request, Response, Router } from 'express'
import type { Account, LookUpResult } from '../accounts/account.js'
import type { EventSubject } from '../events/emitter.js'
import { type HostOptions, hostAliases, hostSchema } from '../http/host-options.js'
import { addressOf, originOfRequest, type RequestOrigin } from '../http/origin.js'
import { createRefuser } from '../http/refuse.js'
import { ENDPOINTS, type Endpoint, type HttpResponse, wrongMethod } from '../http/responses.js'
import { hasUnreadBody, sendResponse } from '../http/send-response.js'
import { createLogin, type LogInWith } from '../login/create-login.js'
import { type LoginOptions, loginAliases, loginSchema, loginSettings } from '../login/login-options.js'
import { createFinish, type FinishSignIn } from '../login/sign-in/finish-sign-in.js'
import { createTokenEndpoint } from '../login/token-endpoint.js'
import { type RespondOptions, respondOption, type TokenSettings } from '../login/token-settings.js'
import { plainPath } from '../options/plain-path.js'
import { aliasesOf, optional, readOptions } from '../options/read-options.js'
import { express } from '../packages/on-first-use.cjs'
import { createRefreshEndpoint, createSignOutEndpoint } from '../refresh/refresh-endpoint.js'
import { noteIssuing } from '../sessions/mistakes.js'
import { tokenIssuer } from '../tokens/issuer-option.js'
import type { TokenIssuer } from '../tokens/tokens.js'

/** The options of `tokenRouter`. */
export interface TokenRouterOptions<A extends LookUpResult = Account>
  extends HostOptions,
    LoginOptions<A>,
    RespondOptions<A> {
  /** Issues the tokens: the result of `createTokenIssuer`. */
  tokens: TokenIssuer
  /** The path of the endpoint below the router's mount point, without patterns. Default `/api/v2013/authentication/token`. */
  path?: string | undefined
}

const schema = {
  tokens: tokenIssuer,
  path: optional(plainPath, ENDPOINTS.token.path),
  respond: respondOption,
  ...loginSchema,
  ...hostSchema,
}

const ofIssuer = (option: string) => `Pass "${option}" to createTokenIssuer(), and the issuer as "tokens"`

const aliases = aliasesOf({
  ...hostAliases,
  ...loginAliases,
  tokens: 'issuer',
  'Use createAuth(), which has sessions and refresh tokens': 'sessions sessionLabel refresh',
  'Use createAuth(), whose auth.logIn and auth.router share one login': 'logIn',
  [ofIssuer('lifetime')]: 'lifetime expiresIn ttl',
  [ofIssuer('keys')]: 'keys secret secretOrKey privateKey algorithm algorithms',
})

/**
 * Creates the router with the token endpoint: `POST` e-mail and password, get a token and its expiration. The router parses request bodies
 * itself, and accepts a body that the host's parser has parsed.
 * @throws TypeError naming the option that is not valid
 */
export function tokenRouter<A extends LookUpResult>(options: TokenRouterOptions<A>): Router {
  const caller = 'tokenRouter'
  const read = readOptions<TokenRouterOptions<A>, typeof schema>(caller, options, schema, aliases)
  const { tokens } = read
  const settings = { ...read, ...loginSettings(read, () => Number(tokens.now()), tokens) }
  return tokenRouterWith(settings, createLogin(settings), createFinish(settings))
}

type Respond = (req: Request, res: Response, origin: RequestOrigin, about: EventSubject) => Promise<HttpResponse>

/** Creates the router with the token endpoint, and with those of refresh tokens where the app has them. */
export function tokenRouterWith(settings: TokenSettings, logIn: LogInWith, finishSignIn: FinishSignIn): Router {
  const { path, sessions, tokens, refresh, bodyLimit } = settings
  noteIssuing(tokens, sessions)
  const router = express().Router({ caseSensitive: true, strict: true })

  function mount(at: string, part: Endpoint, respond: Respond): void {
    const refuse = createRefuser(settings, part)
    router.post(at, async function tokenEndpoint(req: Request, res: Response, next: NextFunction) {
      try {
        const origin = originOfRequest(req)
        const about: EventSubject = { address: origin.address }
        const refused = (thrown: unknown) => refuse(thrown, about, req, res, next)
        const response = await respond(req, res, origin, about).catch(refused)
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

  mount(path, 'token', createTokenEndpoint(settings, logIn, finishSignIn))
  if (refresh) {
    const withRefresh = { ...settings, refresh }
    mount(path + ENDPOINTS.refresh.path, 'refresh', createRefreshEndpoint(withRefresh))
    mount(path + ENDPOINTS.tokenSignOut.path, 'tokenSignOut', createSignOutEndpoint(withRefresh))
  }
  return router
}
