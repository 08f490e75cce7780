import type { IncomingMessage } from 'node:http'
import { createLogin, type LoggedIn, type LoginContext } from '../../accounts/login.js'
import type { AuthError } from '../../shared/errors.js'
import { type EventSubject, emitter, refusalEvent } from '../../shared/events.js'
import { LOGIN, tracePromise } from '../../shared/tracing.js'
import { disconnectSignal } from '../shared/disconnect-signal.js'
import { TOKEN_CALLS } from '../shared/limits.js'
import { asRefusal } from '../shared/send-answer.js'
import { sourceOf } from '../shared/source.js'
import { createTurnQueue } from '../shared/turn-queue.js'
import { credentialsIn } from './credentials.js'
import type { LoginSettings } from './options.js'
import { loadBodyReader, readBody } from './request-body.js'

/** A login waits here before its body is parsed. */
const waitForTurn = createTurnQueue(TOKEN_CALLS)

export type LoginSteps = ReturnType<typeof createLoginSteps>

/** Creates the steps of a login, for the router and for Passport. */
export function createLoginSteps(settings: LoginSettings) {
  const { tokens, accounts, passwords, throttle, timeout, emailInEvents, onEvent } = settings
  loadBodyReader()
  const login = createLogin({ store: accounts, passwords, throttle, timeout, clock: tokens })
  const emit = emitter(onEvent)
  const logIn = async (req: IncomingMessage, subject: EventSubject): Promise<LoggedIn> => {
    const { address } = subject
    const source = sourceOf(req)
    // Nothing is awaited before the body is read, because a listener of the host may already make it flow.
    const checked = login.checkAddress(address)
    const [parseBody] = await Promise.all([readBody(req, settings), checked])
    await waitForTurn(() => source)
    const credentials = credentialsIn(parseBody(), settings.bodyLimit)
    if (emailInEvents) subject.email = credentials.email
    const dependencyFailed: LoginContext['dependencyFailed'] = (dependency, error) =>
      emit(subject, { type: 'dependency.failed', dependency, refused: false, error })
    return login(credentials, { address, source, signal: disconnectSignal(req.socket), dependencyFailed })
  }
  return {
    emit,
    logIn: (req: IncomingMessage, subject: EventSubject) =>
      tracePromise(
        LOGIN,
        () => logIn(req, subject),
        {},
        ({ account }) => ({ accountId: account.id }),
      ),
    /** Returns the refusal that was thrown, and reports it to the host's observer. */
    refuse(thrown: unknown, subject: EventSubject): AuthError {
      const error = asRefusal('token', thrown)
      emit(subject, refusalEvent('token', error))
      return error
    },
  }
}
