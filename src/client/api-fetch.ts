import { createController, until, within } from './abort.js'
import { bearerError } from './challenge.js'
import { assertUsage, type ClientSettings, type RefusedSignIn, type StepUpFields } from './client-options.js'
import { discard } from './discard.js'
import type { Grant } from './grant.js'
import type { HeldToken } from './held-token.js'
import { bare } from './read.js'
import { send } from './send.js'
import type { ClientSession } from './session.js'
import { MOST_QUESTIONS } from './sign-in/attempts.js'
import { type NO_TOKEN, readTokenResponse, requestOf, STEP_UP } from './sign-in/token-call.js'
import { TokenClientError } from './token-client-error.js'

/** @param session returns the session in which a call begins */
export function createApiFetch(settings: ClientSettings, session: () => ClientSession) {
  const { base, endpoint, interactive, origins, timeout, onStepUp } = settings

  /** @throws TypeError for a URL of an origin that must not get the token, and for a relative URL */
  function checkUrl(url: string | URL): URL {
    const read = new URL(url)
    if (origins.has(read.origin)) return read
    throw new TypeError(`${read.origin} is not in "origins"`)
  }

  /** Appends a path to the base URL. Text that does not begin with a scheme cannot change the host. */
  const absolute = (text: string) => (/^[a-z][a-z\d+.-]*:/i.test(text) ? text : base + text.replace(/^\/?/, '/'))

  async function fetch(
    input: string | URL | Request,
    init?: RequestInit | null,
    fetchOnce = settings.fetch,
  ): Promise<Response> {
    const current = session()
    const request: Request | undefined = Object(input).clone && input
    const url = checkUrl(request ? request.url : absolute(String(input)))
    const { referrer, referrerPolicy } = Object(request)
    // A second argument would reset these two members of a Request.
    init ??= { referrer, referrerPolicy }
    // The members of a prototype count too, for example those of a Request. A copy would lose them.
    const prototype = Object.getPrototypeOf(init)
    if (prototype && Object.getPrototypeOf(prototype))
      return await fetch(new Request(request ?? url, init), undefined, fetchOnce)
    const options = bare(init)
    if (options.signal === undefined) options.signal = request?.signal ?? null
    const { signal, headers: given = request?.headers } = options
    const headers = new Headers(given)
    const { getReader, [Symbol.asyncIterator]: iterate } = Object(options.body)
    const isStream = getReader || iterate

    async function sendWith(held: HeldToken) {
      headers.set('Authorization', `Bearer ${held.token}`)
      try {
        // The body of a Request can be read once.
        return await send(fetchOnce, url, request?.clone(), bare(options), new Headers(headers))
      } catch (error) {
        if ((options.body ?? request?.body) && !signal?.aborted && current.doubt(held))
          throw new TokenClientError('interrupted')
        throw error
      }
    }

    const token = await current.get({ signal })
    const [response, isRefusal] = await sendWith(token)
    if (!isRefusal || current.over.aborted) return response

    let next: HeldToken | undefined
    try {
      if ((await until(signal, mayReplace(current, token, response))) && !isStream) {
        next = await current.get({ signal }, token)
      }
    } catch (error) {
      // After a sign-out, the call is not repeated.
      if (!current.over.aborted || signal?.aborted) throw error
    }
    if (!next) return response
    discard(response)
    return (await sendWith(next))[0]
  }

  /** Fetches within the time limit. */
  const fetchInTime: typeof globalThis.fetch = (input, init) =>
    within(timeout, createController().signal, new TokenClientError('unreachable'), (signal) =>
      settings.fetch(input, { ...init, signal }),
    )

  /**
   * Calls a route of this package with the token.
   * @throws TokenClientError, or the error of `credentials`
   */
  async function call(
    route: typeof STEP_UP | typeof NO_TOKEN,
    url: string,
    body?: object,
    method = 'POST',
  ): Promise<Grant | undefined> {
    // The error of `credentials` is not one of the connection.
    await session().get({})
    const send = () => fetch(url, { ...requestOf(settings, body), method }, fetchInTime)
    return (await readTokenResponse(settings, route, send))[0]
  }

  /**
   * Confirms the sign-in with the credentials of the owner. A more recent token replaces the held one.
   * @throws TokenClientError
   */
  async function stepUp(current: ClientSession, given: StepUpFields): Promise<void> {
    await current.stepUp(() => call(STEP_UP, endpoint + STEP_UP, given))
  }

  /** Returns whether a 401 is a reason to get another token. For a valid token, the owner has to step up. */
  async function mayReplace(current: ClientSession, token: HeldToken, response: Response): Promise<boolean> {
    const challenge = response.headers.get('WWW-Authenticate')
    // The specification has no challenge, and a page cannot read the header unless the API exposes it.
    const error = challenge === null ? 'invalid_token' : bearerError(challenge)
    if (error !== 'invalid_token') {
      if (error !== 'insufficient_user_authentication') return false
      // A call that was sent before a sign-in tries the new token first.
      if (token === current.held) {
        const { stepUps } = token
        const done = stepUps.get(challenge) ?? askOwner(current, response)
        stepUps.set(challenge, done)
        if (!(await done)) {
          stepUps.delete(challenge)
          return false
        }
      }
    }
    return current.refuse(token)
  }

  /**
   * Returns whether the owner has stepped up. The owner gets a copy in memory, because the caller may read the response too, and
   * the `cancel()` of a clone waits for the caller.
   */
  async function askOwner(current: ClientSession, response: Response): Promise<boolean> {
    const { over: signal, fail } = current
    try {
      const late = new TokenClientError('unreachable')
      const body = await within(timeout, signal, late, () => response.clone().arrayBuffer())
      let refused: RefusedSignIn | false = false
      for (let left = MOST_QUESTIONS; ; ) {
        const copy = Object.defineProperty(new Response(body, response), 'url', { value: response.url })
        const given = await until(signal, Promise.resolve(onStepUp(copy, { refused, signal })))
        if (!given) return false
        assertUsage(typeof given === 'object', '"onStepUp" must return { password }')
        try {
          await stepUp(current, given)
          return true
        } catch (error) {
          refused = (interactive && --left && (error as TokenClientError).refused) || false
          if (!refused) throw error
        }
      }
    } catch (failure) {
      fail(failure as Error)
      return false
    }
  }

  return [fetch, checkUrl, call, stepUp] as const
}
