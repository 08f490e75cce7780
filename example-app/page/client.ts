import {
  type Credentials,
  type CredentialsRequest,
  createTokenClient,
  type RefusedSignIn,
  type TokenClient,
  TokenClientError,
  type TokenClientOptions,
} from 'express-token-endpoint/client'
import { asksForCode, CallError, SessionOver } from './call-failure.js'

/** The longest time in seconds for which a sign-in waits when the server asks to try later. After it, the page shows the time. */
const MAX_WAIT = 2

export interface PageClient extends TokenClient {
  /**
   * Signs in, and forgets the password.
   * @returns the token
   * @throws TokenClientError, or CallError for wrong credentials
   */
  signInWith(credentials: Credentials): Promise<string>
  /**
   * Signs in by another route, which gets the code of the authenticator app in `more` after it has asked for it.
   * @throws TokenClientError, or CallError when the user cancels
   */
  signInBy(send: (more: object, signal: AbortSignal) => Promise<Response>): Promise<void>
}

export interface PageClientOptions {
  /** Address of the folder that contains the page. The clearing-house API serves both. */
  url: URL
  reportingUrl: string | undefined
  /** Asks for the password again. */
  onStepUp: NonNullable<TokenClientOptions['onStepUp']>
  /** Asks for the code of the authenticator app. Rejects when the user cancels. */
  askForCode: (request: CodeRequest) => Promise<{ otp: string }>
}

/** The refusal that asks for a code. The signal aborts when the sign-in is over. */
export interface CodeRequest extends Partial<Pick<CredentialsRequest, 'signal'>> {
  refused: RefusedSignIn
}

/**
 * Creates the client of the page. After `signInWith`, a call that needs another token rejects with `SessionOver`.
 * @throws TypeError for plain http, except on this machine
 */
export function createPageClient({ url, reportingUrl, onStepUp, askForCode }: PageClientOptions): PageClient {
  let typed: Credentials | undefined
  const client = createTokenClient({
    url,
    origins: reportingUrl === undefined ? [] : [new URL(reportingUrl).origin],
    maxWait: MAX_WAIT,
    refresh: 'cookie',
    // Otherwise a wrong password would end a step-up.
    interactive: true,
    onStepUp,
    credentials({ refused, signal }) {
      if (refused && asksForCode(refused)) return askForCode({ refused, signal })
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
    async signInBy(send: (more: object, signal: AbortSignal) => Promise<Response>) {
      for (let more = {}; ; ) {
        try {
          return await client.signIn((signal) => send(more, signal))
        } catch (error) {
          const refused = error instanceof TokenClientError && error.refused
          if (!refused || !asksForCode(refused)) throw error
          more = await askForCode({ refused })
        }
      }
    },
  })
}
