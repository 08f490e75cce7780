import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuthError } from '../errors/auth-error.js'
import { hostErrorOf } from '../errors/sign-in-refusal.js'
import { warnOnce } from '../events/warnings.js'
import { ignoreRejection, memberOf } from '../options/values.js'
import { type HttpResponse, refusalResponse } from './responses.js'
import { closeAfterEnd, sendResponse, setHeaders } from './send-response.js'

/** The status and the body of a refusal, in the form of the host. */
export interface RefusalBody {
  /** The status, from 400 to 599. */
  status: number
  /** The body: an object is sent as JSON, a text as plain text. Default: no body. */
  body?: unknown
}

/**
 * The option `refuse`. Returns the status and the body of a refusal, or calls `next` once with an error, which the host's error handler
 * receives. When it does neither, the response stays as it is.
 */
export type Refuse<R = IncomingMessage> = (
  error: AuthError,
  req: R,
  next: (error: object) => void,
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement returns void.
) => RefusalBody | undefined | void

/** Express's `next`. */
type Next = (error: unknown) => void

/** The end of a refused request: its response, or the error that the host's error handler receives. */
type Ending = HttpResponse | { passed: object }

/** The form of the refusals of an endpoint or a guard. */
export interface RefusalForm {
  readonly refuse: Refuse | undefined
  /** True where the refusal of invalid credentials has a body too. */
  readonly isProblem?: boolean | undefined
}

/** Asks the host what becomes of a refusal. When its function fails or decides twice, the response is that of this package. */
function endingOf({ refuse, isProblem }: RefusalForm, error: AuthError, req: IncomingMessage): Ending {
  const hostError = hostErrorOf(error)
  if (hostError) return { passed: hostError }
  const response = refusalResponse(error, isProblem)
  if (!refuse) return response
  const passed: unknown[] = []
  try {
    const returned: unknown = ignoreRejection(refuse(error, req, (own) => void passed.push(own)))
    if (passed.length === 0) return returned === undefined ? response : inCustomForm(returned, response)
    const [own] = passed
    // Express would admit the request for another value than an object: undefined, or 'route'.
    if (passed.length === 1 && returned === undefined && typeof own === 'object' && own !== null) return { passed: own }
  } catch {
    // The same as another mistake.
  }
  warnOnce('refuse')
  return response
}

/**
 * Returns a response in the form of the host. Its headers stay.
 * @throws TypeError for a form that no response can have
 */
function inCustomForm(form: unknown, response: HttpResponse): HttpResponse {
  const [status, body] = ['status', 'body'].map((name) => memberOf(Object(form), name))
  if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) throw new TypeError()
  const { 'Content-Type': _, ...headers } = response.headers
  return { status: Number(status), ...contentOf(body, headers) }
}

function contentOf(body: unknown, headers: HttpResponse['headers']): Pick<HttpResponse, 'headers' | 'body'> {
  if (body === undefined || body === null) return { headers, body: '' }
  if (typeof body === 'string') return { headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body }
  const text = JSON.stringify(body)
  if (text === undefined) throw new TypeError()
  return { headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' }, body: text }
}

/** Returns what a call of the host rejects with: the error that `refuse` passes on, or the refusal. */
export function rejectionOf(refuse: Refuse | undefined, error: AuthError, req: IncomingMessage | undefined): object {
  const ending = req ? endingOf({ refuse }, error, req) : { passed: hostErrorOf(error) ?? error }
  return 'passed' in ending ? ending.passed : error
}

/**
 * Sends a refusal, or passes the error of the host on. Both have the headers of the refusal.
 * @param closes whether the connection has to close after the response
 */
export function sendRefusal(
  form: RefusalForm,
  error: AuthError,
  req: IncomingMessage,
  res: ServerResponse,
  next: Next,
  closes: boolean,
): void {
  const ending = endingOf(form, error, req)
  if (!('passed' in ending)) {
    sendResponse(res, ending, closes)
    return
  }
  if (!res.headersSent) {
    setHeaders(res, error.headers)
    closeAfterEnd(req, res)
  }
  next(ending.passed)
}
