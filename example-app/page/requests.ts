import { CallError, failureOfResponse, refusalOf } from './call-failure.js'
import type { PageClient } from './client.js'

const JSON_BODY = { 'Content-Type': 'application/json' }

/** Returns the parts of a request whose body is JSON. */
export const jsonPost = (body: object, signal: AbortSignal = AbortSignal.timeout(10_000)): RequestInit => ({
  method: 'POST',
  headers: JSON_BODY,
  body: JSON.stringify(body),
  signal,
})

/** Sends a request without a token to a route of the clearing-house API. */
export const post = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(new URL(path, location.href), jsonPost(body, signal))

/**
 * Returns the JSON of a response.
 * @throws CallError with the refusal
 */
export async function jsonOf<T>(response: Response): Promise<T> {
  if (!response.ok) throw new CallError(failureOfResponse(response), await refusalOf(response))
  return (await response.text().then((text) => (text === '' ? undefined : JSON.parse(text)))) as T
}

/**
 * Changes the account of the token.
 * @returns the JSON of the response
 * @throws CallError with the refusal
 */
export async function change<T = void>(
  client: PageClient,
  method: 'POST' | 'DELETE',
  path: string,
  body: object = {},
): Promise<T> {
  return jsonOf<T>(await client.fetch(`/auth/account${path}`, method === 'POST' ? jsonPost(body) : { method }))
}
