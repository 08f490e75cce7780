import type { Credentials, Settings } from '../client-options.js'
import type { Grant } from '../grant.js'
import { startStopwatch } from '../stopwatch.js'
import { TokenClientError } from '../token-client-error.js'
import { backoff } from './retry-delay.js'
import { callTokenEndpoint } from './token-call.js'
import { sleep, within } from './waiting.js'

/** 24 days, for persons. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Signs in, and waits as long as the server asks. The wait applies to all callers together. */
export interface SignIn {
  /** @throws TokenClientError, or the error of `credentials` */
  run(signal: AbortSignal): Promise<Grant>
  /** Notes that the server refused the credentials of another tab. */
  refuse(): void
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
  /** True after the server refused what a person typed first. */
  let isSecond = false
  let failures = 0
  /** The last failure, and the time for which nobody calls the endpoint again. */
  let failure: TokenClientError
  let pause = 0
  let sinceFailure = startStopwatch()

  async function run(signal: AbortSignal): Promise<Grant> {
    /** Kept while the server asks to wait, so that a person types once. */
    let given: Credentials | undefined
    for (let waited = 0; ; ) {
      signal.throwIfAborted()
      if (refusal) throw refusal
      const wait = pause - sinceFailure()
      if (wait > 0) {
        waited += wait
        if (waited > maxWait) throw failure
        await sleep(wait, signal)
      }
      given ??= await ask(isSecond, signal)
      const sent = given
      try {
        const grant = await within(timeout, signal, (limited) => around(() => send(sent, limited), limited))
        failures = 0
        return grant
      } catch (error) {
        if (signal.aborted || !(error instanceof TokenClientError)) throw error
        if (error.code === 'refused' && interactive && !isSecond) {
          isSecond = true
          given = undefined
        } else {
          note(error)
          if (error.code !== 'try_later') throw error
        }
      }
    }
  }

  function note(error: TokenClientError): void {
    if (error.code === 'refused') {
      refusal = error
      return
    }
    failure = error
    pause = error.retryAt ? error.retryAt.getTime() - Date.now() : backoff(failures++)
    sinceFailure = startStopwatch()
    error.retryAt ??= new Date(Date.now() + pause)
  }

  async function send(given: Credentials, signal: AbortSignal): Promise<Grant> {
    // Another tab may have been refused while this tab waited for the lock.
    if (refusal) throw refusal
    return callTokenEndpoint(settings, given, signal)
  }

  async function ask(refused: boolean, signal: AbortSignal): Promise<Credentials> {
    const asked = async (limited: AbortSignal) => credentials({ refused, signal: limited })
    const given = await within(interactive ? LONGEST_TIMER : timeout, signal, asked)
    const { email, password }: Partial<Credentials> = Object(given)
    if (email && password) return { email, password }
    throw new TypeError('createTokenClient: "credentials" must return { email, password }')
  }

  return {
    run,
    refuse() {
      if (!interactive) refusal ??= new TokenClientError('refused')
    },
    forgive() {
      refusal = undefined
      isSecond = false
    },
  }
}
