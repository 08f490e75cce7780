import { discard } from './discard.js'

/*
 * What runtimes other than browsers need. In the file for browsers, `runtime-in-browsers.ts` replaces this file.
 */

/** The limit of the Fetch standard. */
const MOST_REDIRECTS = 20

/** The statuses of redirects, and those with the methods that become GET. */
const REDIRECT = /^30[12378]$/
const TO_GET = /^(30[12]post$|303(?!(get|head)$))/i

/** The headers that a redirect to another origin must not get, and those of a body that is no longer sent. */
const SECRETS = /^(proxy-auth|auth|cookie|host)/
const OF_BODY = /^content-/

/**
 * Sends a request, and follows redirects outside of browsers (Fetch standard, section "HTTP-redirect fetch"): some runtimes and packages
 * send the token to the target of a redirect to another origin. Browsers do not, and hide redirects from scripts.
 * @param request undefined when the request consists of the other parameters
 * @param init changed by this function
 * @param headers the headers of `init`. Without the token after a redirect to another origin
 */
export async function sendAndFollow(
  fetch: typeof globalThis.fetch,
  url: URL,
  request: Request | undefined,
  init: RequestInit,
  headers: Headers,
): Promise<Response> {
  const { redirect = request?.redirect ?? 'follow' } = init
  if ((globalThis as { location?: unknown }).location || redirect !== 'follow') return fetch(request ?? url, init)
  init.redirect = 'manual'
  for (let left = MOST_REDIRECTS; ; left--) {
    const response = await fetch(request?.clone() ?? url, init)
    const { status } = response
    const location = REDIRECT.test(`${status}`) ? response.headers.get('Location') : null
    if (location === null) return response
    discard(response)
    const next = new URL(location, url)
    if (!left || !/^https?:$/.test(next.protocol)) throw new TypeError('redirect refused')
    if (next.origin !== url.origin) remove(headers, SECRETS)
    url = next
    let { method = request?.method ?? 'GET', body = null } = init
    if (TO_GET.test(status + method)) {
      method = 'GET'
      body = null
      remove(headers, OF_BODY)
    } else if (request?.body) body ??= await request.arrayBuffer()
    Object.assign(init, { method, body })
    request = undefined
  }
}

function remove(headers: Headers, names: RegExp): void {
  for (const name of [...headers.keys()]) if (names.test(name)) headers.delete(name)
}

/** The functions to call when a signal aborts. The set is the signal's listener. */
class Stops extends Set<() => void> {
  handleEvent(): void {
    for (const stop of this) stop()
  }
}

/**
 * The functions of each signal. They share one listener, because Node warns about more than ten. The last function removes it, because
 * Node keeps a signal of `AbortSignal.any()` in memory for as long as it has a listener.
 */
const allStops = new WeakMap<AbortSignal, Stops>()

/**
 * Calls a function when a signal aborts, at once when it has aborted already.
 * @returns a function that forgets the other
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) stop()
  const stops = allStops.get(signal) ?? new Stops()
  allStops.set(signal, stops.add(stop))
  // A signal that has this listener does not add it again.
  signal.addEventListener('abort', stops)
  return () => {
    stops.delete(stop)
    if (!stops.size) signal.removeEventListener('abort', stops)
  }
}

/** Returns the code of a system error, for example `ECONNREFUSED`. The rest of the error may hold the request. */
export function systemCode(error: unknown): string | undefined {
  const { code } = Object(Object(error).cause)
  return /^[A-Z\d_]+$/.test(code) ? code : undefined
}
