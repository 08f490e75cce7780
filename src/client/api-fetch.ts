import { bearerError } from './challenge.js'
import type { ClientSettings } from './client-options.js'
import type { HeldToken } from './held-token.js'
import { bare } from './read.js'
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

  async function fetch(input: string | URL | Request, init?: RequestInit | null): Promise<Response> {
    const { over, get, refuse } = session()
    const request: Request | undefined = Object(input).clone && input
    const url = checkUrl(request ? request.url : absolute(String(input)))
    const { referrer, referrerPolicy } = Object(request)
    // A second argument would reset these two members of a Request.
    init ??= { referrer, referrerPolicy }
    // The members of a prototype count too, for example those of a Request. A copy would lose them.
    const prototype = Object.getPrototypeOf(init)
    if (prototype && Object.getPrototypeOf(prototype)) return await fetch(new Request(request ?? url, init))
    const own = bare(init)
    if (own.signal === undefined) own.signal = request?.signal ?? null
    const { signal, headers: given = request?.headers } = own
    const headers = new Headers(given)
    const { getReader, [Symbol.asyncIterator]: iterate } = Object(own.body)
    const isStream = getReader || iterate

    function sendWith({ grant }: HeldToken) {
      headers.set('Authorization', `Bearer ${grant.token}`)
      // The body of a Request can be read once.
      return send(settings.fetch, url, request?.clone(), bare(own), new Headers(headers))
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
