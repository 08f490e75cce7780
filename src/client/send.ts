import { sendAndFollow } from './runtime.js'

/**
 * Sends a request with the token.
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
  // Otherwise a browser may give one person the `private` pages of another.
  if (isBrowser && (request?.cache ?? 'default') === 'default') init.cache ??= 'no-store'
  init.headers = headers
  const response = await sendAndFollow(fetch, url, request, init, headers)
  // A redirect through another origin may come back without the token.
  const hadToken = headers.has('Authorization') && new URL(response.url, url).origin === url.origin
  return [response, response.status === 401 && hadToken]
}
