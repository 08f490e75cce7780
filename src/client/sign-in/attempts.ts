import { assertOpen, within } from '../abort.js'
import { assertUsage, type ClientSettings, type Credentials, type RefusedSignIn } from '../client-options.js'
import { type Countdown, LONGEST_TIMER, startCountdown } from '../countdown.js'
import type { Grant } from '../grant.js'
import { bare, isText, readJson } from '../read.js'
import { TokenClientError } from '../token-client-error.js'
import { createCallQueue } from './call-queue.js'
import { backoff } from './retry-delay.js'

/** The refusals since a session got its last token. */
export interface Refusals {
  /** Set when the server refused the credentials. They are not sent again. */
  final?: TokenClientError
  /** The refusal of the password that a person typed first. */
  wrong?: RefusedSignIn | undefined
  /** The account of a service, by its digest. A person may type another address. */
  account?: number
}

/** The state that the session of a client reads. */
export interface SignInState {
  /** True while `credentials` begins. A call of this client would wait for itself. */
  asking?: boolean
}

/** A failure, and the time after it in which the client does not call the endpoint again. */
type Pause = readonly [failure: TokenClientError, left: Countdown]

/** The number of accounts that wait. After more of them, each may ask the server again. */
const MOST_PAUSES = 16

/** The number of times that one sign-in or step-up asks for credentials. */
export const MOST_QUESTIONS = 5

/** The key of the pause after a 429 for a refresh. No account has it. */
const REFRESH = -1

/** Creates the attempts of one client to call the token endpoint. They wait as long as the server asked, also after a sign-out. */
export function createAttempts(settings: ClientSettings) {
  const { credentials, interactive, timeout, maxWait } = settings
  const enqueue = createCallQueue(settings)
  /** A 429 is about the account that it refused, by its digest. Other failures are about all: the key is undefined. */
  const pauses = new Map<number | undefined, Pause>()
  let failures = 0
  let wake: (() => void) | undefined

  /** Calls an endpoint once. The time limit begins after the calls of other tabs. */
  const once = (
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<Grant | undefined>,
    late = new TokenClientError('unreachable'),
  ) => enqueue(() => within(timeout, signal, late, call), signal)

  /**
   * Calls the token endpoint, again after a pause while a call waits.
   * @param refusals undefined for a request without credentials
   * @param isAwaited returns whether a call waits. Otherwise the endpoint is called once at most
   * @throws TokenClientError, or the error of `credentials` or the storage
   */
  async function run(
    refusals: Refusals | undefined,
    signal: AbortSignal,
    isAwaited: () => boolean,
    request: (signal: AbortSignal, given: Credentials) => Promise<Grant | undefined>,
  ): Promise<Grant | undefined> {
    /** Kept while the client waits, so that a person types once. */
    let given: Credentials | undefined
    /** The last request body. A step after the password adds members to it. */
    let sent = ''
    let refused = refusals?.wrong
    let questions = 1
    /** True when the app returned the refused credentials again. */
    let isSame = false
    let account = refusals ? refusals.account : REFRESH
    let waited = 0
    let isRepeated: boolean | undefined
    for (;;) {
      if (refusals?.final) throw refusals.final
      waited = await waitForPauses(account, waited, signal, isAwaited)
      assertOpen(signal)
      if (refusals && !given) {
        given = await ask(refused, sent, signal)
        const body = JSON.stringify(given)
        isSame = body === sent
        sent = body
        account = digest(given.email)
        if (!interactive) refusals.account = account
        // This account may have to wait.
        continue
      }
      const late = new TokenClientError('unreachable')
      try {
        const grant = await once(signal, (limited) => request(limited, given as Credentials), late)
        failures = 0
        return grant
      } catch (error) {
        if (signal.aborted || !(error instanceof TokenClientError)) throw error
        const { code, status } = error
        if (code === 'refused' && refusals) {
          refused = error.refused
          const isWrong = refused?.code === 'invalid_credentials'
          const isLast = isWrong ? refusals.wrong : isSame
          if (interactive && !isLast && questions++ < MOST_QUESTIONS) {
            refusals.wrong = isWrong ? refused : undefined
            if (isWrong) sent = ''
            given = undefined
            continue
          }
          refusals.final = error
          throw error
        }
        error.retryAt ??= new Date(Date.now() + backoff(failures++))
        if (pauses.size > MOST_PAUSES) pauses.clear()
        const left = startCountdown(Number(error.retryAt) - Date.now())
        pauses.set(status === 429 ? account : undefined, [error, left])
        // A server or a proxy that is just starting.
        const isBrief = status === 502 || (code === 'unreachable' && error !== late)
        if (code !== 'try_later' && (isRepeated || !isBrief)) throw error
        isRepeated ||= isBrief
      }
    }
  }

  /**
   * Waits for the pause of an account and for the pause of all accounts.
   * @param waited the milliseconds that the sign-in has waited before. With this wait, at most `maxWait`
   * @returns the milliseconds that it has waited now
   * @throws TokenClientError, the failure before the pause, when the call must not wait
   */
  async function waitForPauses(
    account: number | undefined,
    waited: number,
    signal: AbortSignal,
    isAwaited: () => boolean,
  ): Promise<number> {
    for (const key of [undefined, account]) {
      const [failure, left] = pauses.get(key) ?? []
      const wait = left?.() ?? 0
      if (wait <= 0) continue
      waited += wait
      const mayWait = () => isAwaited() && waited <= maxWait
      if (mayWait()) await within(wait, signal, failure, woken).catch(() => {})
      if (!mayWait()) throw failure
    }
    return waited
  }

  const woken = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })

  /** @param sent the request body to which the app may add members */
  async function ask(refused: RefusedSignIn | undefined, sent: string, signal: AbortSignal): Promise<Credentials> {
    const late = new TokenClientError('unreachable', 'credentials')
    const returned = await within(interactive ? LONGEST_TIMER : timeout, signal, late, async (limited) => {
      attempts.asking = true
      try {
        return credentials({ refused: refused ?? false, signal: limited })
      } finally {
        attempts.asking = false
      }
    })
    const own: Record<string, unknown> = bare(returned)
    const given = own['password'] ? own : Object.assign(readJson(sent), own)
    assertUsage(isText(given['email']) && isText(given['password']), '"credentials" must return { email, password }')
    if (typeof given['remember'] !== 'boolean') delete given['remember']
    return given as Credentials
  }

  const attempts: SignInState & { once: typeof once; run: typeof run; online(): void } = {
    once,
    run,
    /** Ends the wait after a failure of the network, because the machine is online again. */
    online(): void {
      if (pauses.get(undefined)?.[0].code !== 'unreachable') return
      pauses.delete(undefined)
      wake?.()
    },
  }
  return attempts
}

/** Returns a number for an e-mail address, so that the client keeps no address. */
const digest = (email: string): number =>
  [...email].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 2 ** 48, 0)
