import { type Credentials, createTokenClient, type TokenClient } from 'express-token-endpoint/client'
import { SessionOver } from './call-failure.js'

/** The longest time in seconds for which a sign-in waits when the server asks to try later. After it, the page shows the time. */
const MAX_WAIT = 2

export interface PageClient extends TokenClient {
  /**
   * Signs in, and forgets the password.
   * @returns the token
   * @throws TokenClientError
   */
  signInWith(credentials: Credentials): Promise<string>
}

/**
 * Creates the client of the page. After `signInWith`, a call that needs another token rejects with `SessionOver`.
 * @param url address of the folder that contains the page. The clearing-house API serves both.
 * @throws TypeError for plain http, except on this machine
 */
export function createPageClient(url: URL, reportingUrl: string | undefined): PageClient {
  let typed: Credentials | undefined
  const client = createTokenClient({
    url,
    origins: reportingUrl === undefined ? [] : [new URL(reportingUrl).origin],
    maxWait: MAX_WAIT,
    refresh: 'cookie',
    credentials() {
      if (typed) return typed
      throw new SessionOver()
    },
  })
  // A copy would keep the first `state`.
  return Object.assign(client, {
    async signInWith(credentials: Credentials) {
      typed = credentials
      try {
        return await client.token()
      } finally {
        typed = undefined
      }
    },
  })
}
