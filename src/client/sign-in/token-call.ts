import type { ClientSettings, Credentials } from '../client-options.js'
import { type Grant, isToken } from '../grant.js'
import { readJson, readTime } from '../read.js'
import { discard } from '../send.js'
import { TokenClientError } from '../token-client-error.js'
import { retryAfter } from './retry-delay.js'

/** A day: the token is used until then, or until a 401. */
const UNKNOWN_LIFETIME = 86_400_000

/** Credentials and a token are short. The rest of a longer response is not read. */
const LONGEST_RESPONSE = 65_536

/**
 * Calls the token endpoint once.
 * @throws TokenClientError
 */
export async function callTokenEndpoint(
  { fetch, tokenUrl }: ClientSettings,
  { email, password }: Credentials,
  signal: AbortSignal,
): Promise<Grant> {
  let response: Response
  let text = ''
  try {
    response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password }),
      // A redirect could send the password to another server.
      redirect: 'manual',
      credentials: 'omit',
      signal,
    })
    if (response.status === 200 || response.status === 403) text = await readText(response)
    else discard(response)
  } catch (error) {
    // For example ECONNREFUSED. The rest of the error may hold the request.
    const { code } = Object(Object(error).cause)
    throw new TokenClientError('unreachable', /^[A-Z\d_]+$/.test(code) ? code : undefined)
  }
  const { status, headers } = response
  const now = Date.now()
  const date = Date.parse(headers.get('Date') ?? '')
  // The header has whole seconds. Within its second, this machine's clock is more exact.
  const serverNow = date ? Math.min(Math.max(now, date), date + 999) : now
  // The specification's refusal has no body. Another 403 comes from a proxy, and says nothing about the password.
  if (status === 403 && !text) throw new TokenClientError('refused', status)
  if (status === 429 || status === 503) {
    const wait = retryAfter(headers.get('Retry-After'), serverNow)
    throw new TokenClientError('try_later', status, wait ? new Date(now + wait) : undefined)
  }
  const { authenticationToken: token, expiration } = readJson(text)
  const end = readTime(expiration)
  if (!isToken(token) || !end || end <= date) throw new TokenClientError('unexpected', status)
  // Without the header, an expiration in the past or soon shows that this machine's clock is wrong.
  return { token, lifetime: date || end > now + 60_000 ? end - serverNow : UNKNOWN_LIFETIME, receivedAt: now }
}

/** Returns the body, or an incomplete body when it is too long. */
async function readText(response: Response): Promise<string> {
  // The streams of node-fetch have no reader.
  if (!response.body?.getReader) return response.text()
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  for (let text = ''; ; ) {
    const { done, value } = await reader.read()
    if (done || text.length > LONGEST_RESPONSE) {
      discard({ body: reader })
      return text
    }
    text += decoder.decode(value, { stream: true })
  }
}
