import { assertUsage, type ClientSettings, type Credentials } from '../client-options.js'
import { type Countdown, LONGEST_TIMER, startCountdown } from '../countdown.js'
import type { Grant } from '../grant.js'
import { bare } from '../read.js'
import type { Locks, TabLink } from '../tabs/tab-link.js'
import { TokenClientError } from '../token-client-error.js'
import { inTurn, storageOf } from './refresh-storage.js'
import { backoff } from './retry-delay.js'
import { callTokenEndpoint, SIGN_OUT, type TokenRoute } from './token-call.js'
import { within } from './waiting.js'

/** The refusals since a session got its last token. */
export interface Refusals {
  /** Set when the server refused the credentials, here or in another tab. They are not sent again. */
  final?: TokenClientError
  /** True after the server refused what a person typed first. */
  isSecond?: boolean
  /** The account of a service, by its digest. A person may type another address. */
  account?: number
}

/** A failure, and the time after it in which the client does not call the endpoint again. */
type Pause = readonly [failure: TokenClientError, left: Countdown]

/** The number of accounts that wait. After more of them, each may ask the server again. */
const MOST_PAUSES = 16

/** The key of the pause after a 429 for a refresh. No account has it. */
const REFRESH = -1

export type SignIn = ReturnType<typeof createSignIn>

/** Creates the sign-in of one client. It waits as long as the server asked, also after a sign-out. */
export function createSignIn(settings: ClientSettings, link: TabLink) {
  const { credentials, interactive, timeout, maxWait, refresh, name } = settings
  const storage = storageOf(settings)
  const isCookie = refresh === 'cookie'
  const queue = inTurn()
  const { locks } = (globalThis as { navigator?: { locks?: Locks } }).navigator ?? {}
  /** A 429 is about the account that it refused, by its digest. Other failures are about all: the key is undefined. */
  const pauses = new Map<number | undefined, Pause>()
  let failures = 0
  let wake = () => {}

  /** One call of the browser at a time changes the cookie, so that no late response deletes the cookie of a new sign-in. */
  function alone(call: () => Promise<Grant | undefined>, signal: AbortSignal): Promise<Grant | undefined> {
    if (link.alone) return link.alone(call, signal)
    if (!isCookie) return call()
    return locks ? locks.request(name, { signal }, call) : queue(call)
  }

  /** Calls a route, and keeps the refresh token. */
  async function send(route: TokenRoute, body: object | false, signal: AbortSignal): Promise<Grant | undefined> {
    // A sign-out of another tab while the request is under way ends this session too.
    const note = isCookie && (await storage?.load())
    const [grant, refreshToken] = await callTokenEndpoint(settings, route, body, signal)
    // A sign-out may have deleted the refresh token.
    signal.throwIfAborted()
    try {
      await storage?.save((isCookie ? note : refreshToken) as string)
      signIn.unsaved = undefined
    } catch (error) {
      signIn.unsaved = error as Error
    }
    return grant
  }

  /**
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
    let account = refusals ? refusals.account : REFRESH
    let waited = 0
    let isRepeated = false
    for (;;) {
      if (refusals?.final) throw refusals.final
      for (const key of [undefined, account]) {
        const [failure, left] = pauses.get(key) ?? []
        const wait = left?.() ?? 0
        if (wait > 0) {
          waited += wait
          const mayWait = () => isAwaited() && waited <= maxWait
          if (mayWait()) await within(wait, signal, failure, woken).catch(() => {})
          if (!mayWait()) throw failure
        }
      }
      signal.throwIfAborted()
      if (refusals && !given) {
        given = await ask(refusals.isSecond ?? false, signal)
        account = digest(given.email)
        if (!interactive) refusals.account = account
        // This account may have to wait.
        continue
      }
      const late = new TokenClientError('unreachable')
      const call = (limited: AbortSignal) =>
        alone(async () => {
          // Another tab may have been refused while this tab waited for the lock.
          if (refusals?.final) throw refusals.final
          return request(limited, given as Credentials)
        }, limited)
      try {
        const grant = await within(timeout, signal, late, call)
        failures = 0
        return grant
      } catch (error) {
        if (signal.aborted || !(error instanceof TokenClientError)) throw error
        const { code, status } = error
        if (code === 'refused' && refusals) {
          if (interactive && !refusals.isSecond) {
            refusals.isSecond = true
            given = undefined
            continue
          }
          link.tell('refused')
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

  const woken = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })

  async function ask(refused: boolean, signal: AbortSignal): Promise<Credentials> {
    const late = new TokenClientError('unreachable', 'credentials')
    const given = await within(interactive ? LONGEST_TIMER : timeout, signal, late, async (limited) => {
      signIn.isAsking = true
      try {
        return credentials({ refused, signal: limited })
      } finally {
        signIn.isAsking = false
      }
    })
    const { email, password, remember } = bare(given)
    assertUsage(isText(email) && isText(password), '"credentials" must return { email, password }')
    return { email, password, remember: typeof remember === 'boolean' ? remember : undefined }
  }

  const endSession = (refreshToken?: string | null) =>
    run(
      undefined,
      new AbortController().signal,
      () => true,
      async (limited) => {
        const note = isCookie && (await storage?.load())
        // A later sign-in has replaced the cookie.
        if (note === '') return undefined
        await callTokenEndpoint(settings, SIGN_OUT, !isCookie && { refreshToken }, limited)
        if (note) await storage?.save(note)
        return undefined
      },
    )

  const signIn = {
    /**
     * Signs in with credentials.
     * @throws TokenClientError, or the error of `credentials`
     */
    withCredentials: (refusals: Refusals, signal: AbortSignal, isAwaited: () => boolean) =>
      run(refusals, signal, isAwaited, (limited, given) => send('', given, limited)),
    /**
     * Refreshes the session of an earlier sign-in.
     * @param unneeded aborts when it is not needed any more. A request that was sent continues, because its response has a refresh token
     * @returns undefined when there is none
     * @throws TokenClientError, or the error of the storage
     */
    refresh: async (unneeded: AbortSignal, signal: AbortSignal, isAwaited: () => boolean) =>
      storage &&
      run(undefined, signal, isAwaited, async (limited) => {
        unneeded.throwIfAborted()
        for (let tried: unknown; ; ) {
          const text = await storage.load()
          assertUsage(typeof (text ?? '') === 'string', 'load() must return text')
          // After a refusal, another process may have stored the token of a new sign-in.
          if (text === tried || (isCookie ? text : !text)) {
            // A note of a sign-out that has not reached the server, or a refresh token whose session is over.
            if (text) (isCookie ? endSession() : (storage.remove() as Promise<unknown>)).catch(() => {})
            return undefined
          }
          try {
            return await send('/refresh', !isCookie && { refreshToken: text }, limited)
          } catch (error) {
            if ((error as TokenClientError).code !== 'refused') throw error
            tried = text
          }
        }
      }),
    /** Ends the session at the server. */
    async signOut(): Promise<void> {
      if (!storage) return
      const loading = storage.load()
      const removing = storage.remove() as Promise<void> | undefined
      removing?.catch(() => {})
      const refreshToken = await loading
      if (isCookie || refreshToken) await endSession(refreshToken)
      await removing
    },
    /** The error of the app's storage, when it did not save the refresh token. */
    unsaved: undefined as Error | undefined,
    /** True while `credentials` begins. A call of this client would wait for itself. */
    isAsking: false,
    /** Ends the wait after a failure of the network, because the machine is online again. */
    goOnline(): void {
      if (pauses.get(undefined)?.[0].code !== 'unreachable') return
      pauses.delete(undefined)
      wake()
    },
  }
  return signIn
}

/** Returns a number for an e-mail address, so that the client keeps no address. */
const digest = (email: string): number =>
  [...email].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 2 ** 48, 0)

const isText = (value: unknown) => typeof value === 'string' && value
