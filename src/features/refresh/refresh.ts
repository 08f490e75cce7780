import { callHost } from '../../concurrency/host-call.js'
import { isAuthError } from '../../errors/auth-error.js'
import type { RefreshRefusal } from '../../errors/codes.js'
import { empty } from '../../http/declaration.js'
import { type Call, endpoint } from '../../http/endpoint.js'
import { createIssuing, limitCalls } from '../../login/issuing.js'
import { subjectOf, withKeptTerms } from '../../login/known-sign-in.js'
import { deleteCookie } from '../../login/refresh-cookie.js'
import {
  type RefreshChoice,
  type RefreshOptions,
  refreshOption,
  refreshResponse,
  withinSession,
} from '../../login/refresh-mode.js'
import { PAGE } from '../../options/misuse.js'
import { optional } from '../../options/read-options.js'
import type { DecryptingSecret, Secret } from '../../options/secret.js'
import { own } from '../../options/values.js'
import { secretList } from '../../tokens/keys/key-material.js'
import { type Feature, type Need, SESSIONS } from '../feature.js'
import { withToken } from '../sign-in.js'
import { type OldRefreshTokensOptions, oldRefreshTokensOption } from './old-refresh-options.js'
import { type OldRefreshTokens, oldRefreshTokensOf } from './old-refresh-tokens.js'
import {
  createPresenter,
  type PresentingCall,
  type RefreshParts,
  RefreshRequest,
  refreshTokenBody,
  waitForTurn,
} from './presented.js'
import { refresh, termsOf } from './refresh-steps.js'
import { signOutEndpoint } from './sign-out.js'

/** The options of a refresh in an app. */
export interface RefreshFeatureOptions {
  /**
   * A [secret](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#one-secret) of at least
   * 32 bytes, passed as a string or as bytes. To replace the secret, pass [a
   * list](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md#replace-the-secret).
   * Default: none.
   */
  secret?: Secret | readonly (Secret | DecryptingSecret)[] | undefined
  /**
   * [Keeps users signed in](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/stay-signed-in.md). Pass
   * `'cookie'` for pages, `'body'` for apps and scripts, a function `(req) => mode`, or [an
   * object](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#the-option-refresh).
   * Requires `secret`. Default: none.
   */
  refresh?: RefreshChoice | RefreshOptions | undefined
  /**
   * [Options](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/login.md#the-option-oldrefreshtokens)
   * for accepting [refresh tokens from your old
   * system](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/migrate.md#your-refresh-tokens-are-in-your-own-table).
   * Requires `refresh`. Default: none.
   */
  oldRefreshTokens?: OldRefreshTokensOptions | undefined
}

export const refreshOptions = {
  secret: optional(secretList),
  refresh: optional(refreshOption),
  oldRefreshTokens: oldRefreshTokensOption,
}

/** The parts that a refresh needs. */
const NEEDS: readonly Need[] = [
  SESSIONS,
  {
    part: 'store.sessions.replace',
    text: '"store" whose sessions have "replace". Use a store from this package, or add the method to your store',
    page: PAGE.stores,
  },
  { part: 'secret', text: '"secret". Create one with: npx express-token-endpoint keygen --alg HS256' },
  {
    part: 'accounts.findById',
    text: '"accounts" with "findById", because each refresh looks the account up by its id',
  },
]

/** The refresh tokens that replace the old ones. */
const REFRESH: Need = { part: 'refresh', text: '"refresh", because each old refresh token is replaced by a new one' }

/** The refusals after which the session of the refresh token is over for ever, so that its cookie is of no use. */
const OVER: ReadonlySet<unknown> = new Set<RefreshRefusal>([
  'ended',
  'reused',
  'unknown_account',
  'account_disabled',
  'superseded',
])

/** Creates the refresh of a session: refresh token → account → token → response. */
function createRefresh(settings: RefreshParts, old: OldRefreshTokens | undefined) {
  const { tokens, path, timeout, emit } = settings
  const { refreshSteps, findById, cookie } = settings.refresh
  const issue = createIssuing(settings)
  const present = createPresenter(settings.refresh)

  return async function refreshed(call: PresentingCall & Pick<Call, 'res' | 'origin' | 'about'>) {
    const { req, res, origin, about, mode } = call
    const ofOld = old?.callIn(call)
    const texts = old && ofOld ? [await old.present(ofOld)] : present(call)
    // Nobody is signed in. A refusal would be an error in the console of each visitor.
    if (!texts) return undefined
    const { address, signal } = origin
    const lookedUpAt = new Date(Number(tokens.now()))
    const { session, issued } = await refresh({
      refreshSteps,
      findById,
      timeout,
      presented: texts,
      address,
      isWanted: () => !res.headersSent && !signal.aborted,
      async issue(live) {
        const { session, found } = live
        const { account, user } = found
        const expiresAt = refreshSteps.endOf(session)
        const narrow = () => withKeptTerms(subjectOf(account, lookedUpAt), termsOf(live))
        const narrowed = await callHost('sessions', narrow)
        const subject = withinSession(narrowed, { ...session, expiresAt }, lookedUpAt.getTime())
        return issue(req, subject, user)
      },
    })
    // After the session has moved on, because a session that has not is over when its row is gone.
    if (old && ofOld) await old.remove(ofOld)
    const { id: sessionId, accountId, state, expiresAt } = session
    const { generation, remember } = state
    const refreshToken = refreshSteps.write({ sessionId, generation }, tokens.issuer)
    const { id: tokenId, expiresAt: end, text } = issued
    emit(about, { type: 'session.refreshed', accountId, sessionId, tokenId, expiresAt: end })
    const now = lookedUpAt.getTime()
    const where = { path: req.baseUrl + path, cookie, expiresAt, now }
    return refreshResponse(res, text, { ...where, mode, refreshToken, remember })
  }
}

/** The refresh of a session, and its sign-out. */
export const refreshFeature: Feature<RefreshParts> = {
  at: 'token',
  options: refreshOptions,
  needs: { refresh: NEEDS, oldRefreshTokens: [REFRESH] },
  schemas: ({ modes }) => (modes.includes('body') ? { RefreshRequest } : {}),
  endpoints: [
    endpoint({
      id: 'refreshToken',
      method: 'POST',
      path: '/refresh',
      origin: 'own with cookie',
      body: refreshTokenBody,
      summary: 'Get a new token without a password',
      description: 'Refreshes a session. Simultaneous refreshes each return a token, and the same refresh token.',
      responses: {
        200: { ...withToken, description: 'A new token, in the response format of the token endpoint.' },
        204: { ...empty('Nobody is signed in: the request has no cookie.'), of: 'cookie' },
        400: 'invalid_body',
        403: 'invalid_refresh_token',
        503: ['overloaded', 'unavailable'],
      },
      events: 'token',
      turns: waitForTurn,
      calls: limitCalls,
      handle(parts: RefreshParts) {
        const old = oldRefreshTokensOf(parts)
        const refreshed = createRefresh(parts, old)
        const { cookie } = parts.refresh

        return async (call) => {
          const { req, res, mode } = call
          try {
            const result = await refreshed(call)
            old?.deleteCookie(call)
            return result
          } catch (error) {
            const reason = isAuthError(error) ? own(error, 'reason') : undefined
            const isOver = OVER.has(reason)
            if (isOver || reason === 'malformed') old?.deleteCookie(call)
            if (isOver && mode === 'cookie') deleteCookie(res, req.baseUrl + parts.path, cookie)
            throw error
          }
        }
      },
    }),
    signOutEndpoint,
  ],
}
