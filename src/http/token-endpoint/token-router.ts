import type { NextFunction, Request, Response, Router } from 'express'
import { AuthError } from '../../shared/errors.js'
import type { EventSubject } from '../../shared/events.js'
import { warnOnce } from '../../shared/warnings.js'
import { express } from '../on-first-use.cjs'
import { type Answer, refusalAnswer, tokenAnswer, withAllHeaders } from '../shared/answers.js'
import { hasUnreadBody } from '../shared/close-after-answer.js'
import { sendAnswer } from '../shared/send-answer.js'
import { addressOf } from '../shared/source.js'
import { createLoginSteps } from './login-steps.js'
import { readTokenRouterOptions, type TokenRouterOptions } from './options.js'

/** Returns whether a proxy seems to be in front of an app that trusts none. */
const isUntrusted = ({ headers, app }: Request) =>
  Object.hasOwn(headers, 'x-forwarded-for') && app?.get('trust proxy') === false

/**
 * Creates the router with the token endpoint: `POST` e-mail and password, get a token and its expiration. The router parses request
 * bodies itself, and accepts a body that the host's parser has parsed.
 * @throws TypeError naming the option that is not valid
 */
export function tokenRouter(options: TokenRouterOptions): Router {
  const settings = readTokenRouterOptions(options)
  const { tokens, path, bodyLimit, forwardErrors } = settings
  const steps = createLoginSteps(settings)

  async function answerOf(req: Request, subject: EventSubject): Promise<Answer> {
    const { account, asOf } = await steps.logIn(req, subject)
    const { id: accountId, scopes, claims, lifetime } = account
    const permissions = { scopes: scopes ?? [], claims: claims ?? {}, lifetime }
    const issued = tokens.issue({ accountId, ...permissions, issuedAt: asOf })
    const answer = tokenAnswer(issued.token, issued.expiresAt)
    steps.emit(subject, { type: 'token.issued', accountId, tokenId: issued.id, expiresAt: issued.expiresAt })
    return answer
  }

  function refuse(thrown: unknown, subject: EventSubject, req: Request, res: Response, next: NextFunction): void {
    const error = steps.refuse(thrown, subject)
    const closes = hasUnreadBody(req, bodyLimit)
    if (forwardErrors === 'all') next(withAllHeaders('token', error, closes))
    else if (forwardErrors && error.code === 'unavailable') next(error)
    else sendAnswer(res, refusalAnswer('token', error), closes)
  }

  const router = express().Router({ caseSensitive: true, strict: true })
  router.post(path, function tokenEndpoint(req, res, next) {
    if (isUntrusted(req)) warnOnce('trustProxy')
    const subject: EventSubject = { address: addressOf(req) }
    // Not `catch`, because an error while sending belongs to the host, and the call has had its event.
    answerOf(req, subject)
      .then(
        (answer) => sendAnswer(res, answer),
        (thrown: unknown) => refuse(thrown, subject, req, res, next),
      )
      .catch(next)
  })
  router.all(path, function tokenMethodNotAllowed(req, res, next) {
    refuse(new AuthError('method_not_allowed'), { address: addressOf(req) }, req, res, next)
  })
  return router
}
