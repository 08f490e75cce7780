import { bearerError } from './challenge.js'
import type { ClientSettings } from './client-options.js'
import type { HeldToken } from './held-token.js'
import { discard, send } from './send.js'
import type { Session } from './session.js'
import { until } from './sign-in/waiting.js'

/** @param session returns the session in which a call begins */
export function createApiFetch(settings: ClientSettings, session: () => Session) {
  const { base, origins, onStepUp } = settings

  /** @throws TypeError for a URL of an origin that must not get the token, and for a relative URL */
  function checkUrl(url: string | URL): URL {
    const read = new URL(url)
    if (origins.has(read.origin)) return read
    throw new TypeError(`${read.origin} must not get the token. Add it to "origins".`)
  }

  /** Appends a path to the base URL. Text that does not begin with a scheme cannot change the host. */
  const absolute = (text: string) => (/^[a-z][a-z\d+.-]*:/i.test(text) ? text : base + text.replace(/^\/?/, '/'))

  async function fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const { over, get, refuse } = session()
    const request: Request | undefined = Object(input).clone && input
    const url = checkUrl(request ? request.url : absolute(String(input)))
    // A Request has its members on its prototype, so a copy would lose them.
    if ('clone' in init) return await fetch(new Request(url, init))
    const signal = init.signal ?? request?.signal ?? null
    const { getReader, pipe, [Symbol.asyncIterator]: iterate } = Object(init.body)
    const isStream = getReader || pipe || iterate

    function sendWith({ grant }: HeldToken) {
      const headers = new Headers(init.headers ?? request?.headers)
      headers.set('Authorization', `Bearer ${grant.token}`)
      // The body of a Request can be read once.
      return send(settings.fetch, url, request?.clone(), { ...init, signal }, headers)
    }

    const token = await get({ signal })
    const [response, isRefusal] = await sendWith(token)
    if (!isRefusal || over.aborted) return response

    let next: HeldToken | undefined
    try {
      const isInvalid = await until(signal, until(over, readRefusal(response)))
      if (isInvalid !== undefined && refuse(token, isInvalid) && !isStream) next = await get({ signal }, token)
    } catch (error) {
      // After a sign-out, nobody repeats the call.
      if (!over.aborted || signal?.aborted) throw error
    }
    if (!next) return response
    discard(response)
    return (await sendWith(next))[0]
  }

  /**
   * Returns whether a 401 says that the token is invalid. False when the token is valid, but the owner consents to a step-up. Undefined
   * when a new token would not help.
   */
  async function readRefusal(response: Response): Promise<boolean | undefined> {
    const challenge = response.headers.get('WWW-Authenticate')
    // The specification has no challenge, and a page cannot read the header unless the API exposes it.
    const error = challenge === null ? 'invalid_token' : bearerError(challenge)
    if (error === 'invalid_token') return true
    return error === 'insufficient_user_authentication' && (await onStepUp(response)) === true ? false : undefined
  }

  return { fetch, checkUrl }
}
