import type { Credentials, Settings } from '../client-options.js'
import type { Grant } from '../grant.js'
import { TokenClientError } from '../token-client-error.js'
import { backoff } from './retry-delay.js'
import { callTokenEndpoint } from './token-call.js'
import { sleep, until, within } from './waiting.js'

/** Signs in, and waits as long as the server asks. The wait applies to all callers together. */
export interface SignIn {
  /** @throws TokenClientError, or the error of `credentials` */
  run(signal: AbortSignal): Promise<Grant>
  /** Forgets that the server refused the credentials. A wait that the server asked for continues. */
  forgive(): void
}

/**
 * Creates the sign-in of one client.
 * @param around runs a token call, for example while no other tab does
 */
export function createSignIn(
  settings: Settings,
  around: (call: () => Promise<Grant>, signal: AbortSignal) => Promise<Grant>,
): SignIn {
  const { credentials, interactive, timeout, maxWait } = settings
  let refusal: TokenClientError | undefined
  let failures = 0
  /** The last failure, and the time for which nobody calls the endpoint again. */
  let failure: TokenClientError
  let resumeAt = 0

  async function run(signal: AbortSignal): Promise<Grant> {
    for (let waited = 0; ; ) {
      if (refusal) throw refusal
      const wait = resumeAt - performance.now()
      if (wait > 0) {
        waited += wait
        if (waited > maxWait) throw failure
        await sleep(wait, signal)
      }
      try {
        const grant = await attempt(signal)
        failures = 0
        return grant
      } catch (error) {
        if (signal.aborted || !(error instanceof TokenClientError)) throw error
        note(error)
        if (error.code !== 'try_later') throw error
      }
    }
  }

  function note(error: TokenClientError): void {
    if (error.code === 'refused') {
      refusal = error
      return
    }
    failure = error
    error.retryAt ??= new Date(Date.now() + backoff(failures++))
    resumeAt = performance.now() + (error.retryAt.getTime() - Date.now())
  }

  /** Sends the credentials. When the server refuses them, asks a person once more. */
  async function attempt(signal: AbortSignal, isSecond = false): Promise<Grant> {
    const given = await ask(isSecond, signal)
    try {
      return await within(timeout, signal, (limited) =>
        around(() => callTokenEndpoint(settings, given, limited), limited),
      )
    } catch (error) {
      const isAskedAgain = interactive && !isSecond && error instanceof TokenClientError && error.code === 'refused'
      if (!isAskedAgain) throw error
      return attempt(signal, true)
    }
  }

  async function ask(refused: boolean, signal: AbortSignal): Promise<Credentials> {
    const asked = async (limited: AbortSignal) => credentials({ refused, signal: limited })
    const given = await (interactive ? until(signal, asked(signal)) : within(timeout, signal, asked))
    const { email, password }: Partial<Credentials> = Object(given)
    if (typeof email === 'string' && typeof password === 'string') return { email, password }
    throw new TypeError('createTokenClient: "credentials" must return { email, password }')
  }

  return {
    run,
    forgive() {
      refusal = undefined
    },
  }
}
