import {
  type Credentials,
  createTokenClient,
  type TokenClient,
  type TokenClientOptions,
} from 'express-token-endpoint/client'
import { CallError, SessionOver } from './call-failure.js'

/** The longest time in seconds for which a sign-in waits when the server asks to try later. After it, the page shows the time. */
const MAX_WAIT = 2

export interface PageClient extends TokenClient {
  /**
   * Signs in, and forgets the password.
   * @returns the token
   * @throws TokenClientError, or CallError for wrong credentials
   */
  signInWith(credentials: Credentials): Promise<string>
}

export interface PageClientOptions {
  /** Address of the folder that contains the page. The clearing-house API serves both. */
  url: URL
  reportingUrl: string | undefined
  /** Asks for the password again. */
  onStepUp: NonNullable<TokenClientOptions['onStepUp']>
}

/**
 * Creates the client of the page. After `signInWith`, a call that needs another token rejects with `SessionOver`.
 * @throws TypeError for plain http, except on this machine
 */
export function createPageClient({ url, reportingUrl, onStepUp }: PageClientOptions): PageClient {
  let typed: Credentials | undefined
  const client = createTokenClient({
    url,
    origins: reportingUrl === undefined ? [] : [new URL(reportingUrl).origin],
    maxWait: MAX_WAIT,
    refresh: 'cookie',
    // Otherwise a wrong password would end a step-up.
    interactive: true,
    onStepUp,
    credentials({ refused }) {
      // The form asks again.
      const isWrong = refused && refused.code === 'invalid_credentials'
      if (refused) throw new CallError(isWrong ? { kind: 'wrong-credentials' } : { kind: 'unexpected', status: 403 })
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
