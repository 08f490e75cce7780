import { createTokenClient } from '../../../client/token-client.js'
import type { Environment } from '../target.js'
import { Fault } from '../verdict.js'
import type { Answer, Send } from './send.js'

/**
 * Signs in to an environment with this package's own client.
 * @throws Fault without a token
 */
export async function signIn({ token: url, credentials }: Environment, send: Send): Promise<string> {
  let answer: Promise<Answer> | undefined
  const client = createTokenClient({
    // A placeholder, because the client refuses URLs that --plain-http allows.
    url: 'https://other.invalid',
    credentials: () => credentials,
    maxWait: 0,
    // Above the highest --timeout, so that `send` reports the time.
    timeout: 600,
    fetch: async (_url, request = {}) => {
      const sent = {
        method: 'POST',
        headers: Object.fromEntries(new Headers(request.headers)),
        body: String(request.body),
      }
      answer ??= send(url, sent)
      const { status, headers, body } = await answer
      return new Response(body || null, { status, headers: { Date: headers.date ?? '' } })
    },
  })
  try {
    return await client.token()
  } catch {
    await answer
    throw new Fault('the other environment gave no token')
  }
}
