import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthError } from '../errors/auth-error.js'
import type { Part } from '../errors/codes.js'
import { asCallRefusal } from '../errors/refusal.js'
import { hostErrorOf } from '../errors/sign-in-refusal.js'
import type { EventSubject } from '../events/emitter.js'
import type { AuthObserver } from '../events/events.js'
import { type refusalReporter, reportedCopy } from '../events/report-refusal.js'
import { customResponse, type Refuse } from './custom-response.js'
import { allHeaders, NO_STORE } from './responses.js'
import { hasUnreadBody, sendResponse, setHeaders } from './send-response.js'

interface RefusingSettings {
  reportRefusal: ReturnType<typeof refusalReporter>
  observer: AuthObserver | undefined
  forwardErrors: boolean | 'all'
  refuse: Refuse | undefined
  /** The longest body that is read, in bytes. */
  bodyLimit: number
}

/** Creates the function that reports the refusal of a token call, and sends it or passes it to the host's error handler. */
export function createCallRefuser(settings: RefusingSettings, part: Part) {
  const { reportRefusal, observer, forwardErrors, bodyLimit, refuse } = settings
  return function refuseCall(
    thrown: unknown,
    subject: EventSubject,
    req: IncomingMessage,
    res: ServerResponse,
    next: (error: unknown) => void,
  ): void {
    const error = asCallRefusal(part, thrown)
    reportRefusal(subject, error, part)
    const closes = hasUnreadBody(req, bodyLimit)
    const forward = (headers: AuthError['headers']) => next(reportedCopy(error, observer, headers))
    const hostError = hostErrorOf(error)
    if (hostError !== undefined) {
      setHeaders(res, NO_STORE)
      next(hostError)
    } else if (forwardErrors === 'all') forward(allHeaders(part, error, closes))
    else if (forwardErrors && error.code === 'unavailable') forward(error.headers)
    else sendResponse(res, customResponse(refuse, part, error, req), closes)
  }
}
