/** The limit of the Fetch standard. */
const MOST_REDIRECTS = 20

/** The statuses of redirects, and those with the methods that become GET. */
const REDIRECT = /^30[12378]$/
const TO_GET = /^(30[12]post$|303(?!(get|head)$))/i

/** The headers that a redirect to another origin must not get, and those of a body that is no longer sent. */
const SECRETS = /^(proxy-auth|auth|cookie|host)/
const OF_BODY = /^content-/

/**
 * Sends a request with the token, and follows redirects.
 *
 * Browsers remove the token at a redirect to another origin, and hide redirects from scripts. Some other runtimes and packages send
 * the token to the target of the redirect. There, this function follows the redirects (Fetch standard, section "HTTP-redirect fetch").
 * @param request undefined when the request consists of the other parameters
 * @param init changed by this function
 * @returns the response, and whether it is a 401 of the origin that received the token
 */
export async function send(
  fetch: typeof globalThis.fetch,
  url: URL,
  request: Request | undefined,
  init: RequestInit & { cache?: string },
  headers: Headers,
): Promise<[response: Response, isRefusal: boolean]> {
  const isBrowser = (globalThis as { location?: unknown }).location
  const { redirect = request?.redirect ?? 'follow', cache = request?.cache ?? 'default' } = init
  const follows = !isBrowser && redirect === 'follow'
  init.headers = headers
  if (follows) init.redirect = 'manual'
  // Otherwise a browser may give one person the `private` pages of another.
  if (isBrowser && init.cache === undefined && cache === 'default') init.cache = 'no-store'
  let at = url
  for (let left = MOST_REDIRECTS; ; left--) {
    const response = await fetch((follows ? request?.clone() : request) ?? at, init)
    const { status } = response
    const location = follows && REDIRECT.test(`${status}`) ? response.headers.get('Location') : null
    if (location == null) {
      // A redirect through another origin may come back without the token.
      const hadToken = headers.has('Authorization') && new URL(response.url, at).origin === url.origin
      return [response, status === 401 && hadToken]
    }
    discard(response)
    const next = new URL(location, at)
    if (!left || !/^https?:$/.test(next.protocol)) throw new TypeError('redirect refused')
    if (next.origin !== at.origin) remove(headers, SECRETS)
    at = next
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

/** Frees the connection of a response that is not read to its end. */
export function discard({ body }: { readonly body: unknown }): void {
  // The responses of node-fetch have streams of Node.
  const { cancel, destroy } = Object(body)
  ;(cancel ?? destroy)?.call(body)?.catch?.(() => {})
}
