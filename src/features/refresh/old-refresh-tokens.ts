import { currentAccount, findAccount } from '../../accounts/find-account.js'
import { callHost } from '../../concurrency/host-call.js'
import { limitTasks } from '../../concurrency/limit.js'
import { AuthError } from '../../errors/auth-error.js'
import type { Call } from '../../http/endpoint.js'
import { userAgentOf } from '../../http/header-lines.js'
import { createLoginLimit } from '../../limits/limit.js'
import { keptTerms, subjectOf } from '../../login/known-sign-in.js'
import { deleteOldCookie, oldCookieValues, presentedIn } from '../../login/refresh-cookie.js'
import { startIdOf } from '../../sessions/refresh/refresh-steps.js'
import type { RefreshTokenFacts } from '../../sessions/refresh/refresh-token.js'
import { type OldRefreshTokensSettings, readOldRefreshToken } from './old-refresh-options.js'
import type { PresentingCall, RefreshParts } from './presented.js'
import { refused } from './refresh-steps.js'

/** An old refresh token (RFC 6749 section A.17), at most as long as a JWT in a cookie. A database may refuse to look up other characters. */
const FORM = /^[\x20-\x7e]{1,4096}$/

/** The most calls of `find` and `remove` in progress. Each is a query of the host, for a text that anybody may send. */
const CALLS = { total: 256, perNetwork: 32 }

/** The unknown texts of one network in a window of 15 minutes. Further ones get `503`, because a client would take `403` for a sign-out. */
const UNKNOWN = { points: 100, duration: 900 }

/** An old refresh token of a request. */
interface OldCall extends Pick<Call, 'req' | 'origin'> {
  token: string
}

/** A request that may have an old refresh token. */
type PresentedCall = PresentingCall & Pick<Call, 'origin'>

/** The most old cookies that a sign-out removes. A browser has one for each path and domain. */
const MOST_COOKIES = 4

export type OldRefreshTokens = ReturnType<typeof createOldRefreshTokens>

/**
 * Creates the steps that replace an old refresh token. The id of its new session is a digest of the token, so the token names the first
 * generation of this session, as one of our refresh tokens would. Repeated requests, tabs and reuse follow the rules of a refresh.
 */
function createOldRefreshTokens(
  settings: OldRefreshTokensSettings,
  { tokens, timeout, refresh, secondFactor }: RefreshParts,
) {
  const { find, remove, cookie } = settings
  const { refreshSteps, issuers, findById } = refresh
  const until = settings.until.getTime()
  const limitHost = limitTasks(CALLS)
  const unknown = createLoginLimit('address', UNKNOWN)

  const callOption = <T>({ origin }: OldCall, run: () => T | Promise<T>) =>
    limitHost(origin.network, () => callHost('hook', run, { timeout, about: { option: 'oldRefreshTokens' } }))

  const ask = (call: OldCall) =>
    callOption(call, async () => readOldRefreshToken(await find(call.token, { req: call.req }), Number(tokens.now())))

  /**
   * Returns the row of a token that has no session.
   * @throws AuthError `overloaded` for a network that has sent too many unknown texts
   */
  async function rowOf(call: OldCall) {
    const reached = unknown.reached(call.origin.network)
    if (reached) throw new AuthError('overloaded', { retryAfter: Number(reached.headers['Retry-After']) })
    return ask(call)
  }

  const countUnknown = ({ origin }: OldCall) => void unknown.fail(origin.network, () => {})

  /** Returns the texts of a request that may be old refresh tokens, each once. */
  function textsIn({ req, mode, body }: PresentedCall): string[] {
    if (Number(tokens.now()) >= until) return []
    const inCookie = mode === 'cookie' && cookie ? oldCookieValues(req, cookie) : []
    const texts = mode === 'body' && body ? [body.refreshToken] : inCookie
    return [...new Set(texts)].filter((one) => FORM.test(one) && !refreshSteps.read(one, issuers))
  }

  async function removeRow(call: OldCall): Promise<void> {
    await callOption(call, async () => void (await remove(call.token, { req: call.req })))
  }

  /** Finds the session of a token: that of the newest secret, or of one that was replaced since. */
  async function findSession(ids: readonly string[]) {
    for (const sessionId of ids) {
      const session = await refreshSteps.find({ sessionId, generation: 0 })
      if (session) return session
    }
    return undefined
  }

  /**
   * Starts the session of a token, unless another request has started it meanwhile.
   * @returns the id of the session
   * @throws AuthError `invalid_refresh_token` for an unknown token
   */
  async function start(call: OldCall, ids: readonly string[]): Promise<string> {
    // Before the look-ups, so that a change of the account from now on is later than the session.
    const createdAt = new Date(Number(tokens.now()))
    const row = await rowOf(call)
    if (!row) {
      // Another request may have started the session and removed the row since this one looked for the session.
      const started = await findSession(ids)
      if (started) return started.id
      countUnknown(call)
      throw refused('malformed')
    }
    const { accountId, signedInAt, label, remember } = row
    const id = ids[0] as string
    const account = currentAccount(await findAccount(findById, accountId, timeout), signedInAt)
    if (typeof account === 'string') throw refused(account, accountId)
    const base = subjectOf(account.account, createdAt)
    // The old sign-in has not passed the second factor, so a recent one must not be enough to remove it.
    const recentAt = secondFactor ? new Date(0) : signedInAt
    const kept = { ...base, signedInAt: recentAt, amr: [] }
    const terms = await callHost('sessions', () => keptTerms(kept, base, undefined))
    const userAgent = userAgentOf(call.req)
    const session = { id, accountId, label, address: call.origin.address, userAgent, terms }
    await refreshSteps.adopt(session, { createdAt, remember, passwordHash: account.account.passwordHash })
    return id
  }

  /**
   * Asks the host again after the session has started, because its user may have signed out or changed the password since the first time. Of
   * several requests, one removes the row after it has moved the session on: so a session without a row has moved on, or is over.
   */
  async function requireRow(call: OldCall, sessionId: string): Promise<RefreshTokenFacts> {
    const facts = { sessionId, generation: 0 }
    const session = await refreshSteps.find({ sessionId, generation: 0 })
    if (!session || session.state.generation > 0) return facts
    if ((await ask(call))?.accountId === session.accountId) return { ...facts, startId: startIdOf(session) }
    const current = await refreshSteps.find({ sessionId, generation: 0 })
    if (!current || current.state.generation > 0) return facts
    await refreshSteps.end(current, 'account', call.origin.address)
    throw refused('ended', current.accountId)
  }

  return {
    /**
     * Returns the old refresh token of a request that has none of this package.
     * @throws AuthError `invalid_refresh_token` for several, because nobody can decide between two sessions
     */
    callIn(call: PresentedCall): OldCall | undefined {
      const { req, origin, mode } = call
      if (mode === 'cookie' && presentedIn(req, refreshSteps, issuers).length > 0) return undefined
      const [token, ...others] = textsIn(call)
      if (others.length > 0) throw refused('several_cookies')
      return token === undefined ? undefined : { req, origin, token }
    },
    /**
     * Returns the session that an old refresh token names, after starting it where it has none yet.
     * @throws AuthError `invalid_refresh_token`, `overloaded`, or `unavailable` when a dependency fails
     */
    async present(call: OldCall): Promise<RefreshTokenFacts> {
      const ids = refreshSteps.idsOfOld(call.token, tokens.issuer)
      const session = await findSession(ids)
      return requireRow(call, session?.id ?? (await start(call, ids)))
    },
    /** @throws AuthError `overloaded`, or `unavailable` when the function of the host fails */
    remove: removeRow,
    /**
     * Removes the old refresh tokens of a sign-out, also next to one of this package: nobody is signed in afterwards.
     * @returns the sessions that they may have
     * @throws the errors of `remove`
     */
    async signOut(call: PresentedCall): Promise<RefreshTokenFacts[]> {
      const { req, origin } = call
      const facts: RefreshTokenFacts[] = []
      for (const token of textsIn(call).slice(0, MOST_COOKIES)) {
        const ids = refreshSteps.idsOfOld(token, tokens.issuer)
        const one = { req, origin, token }
        // The row first: a refresh at the same time finds none after it has started its session.
        if ((await findSession(ids)) ?? (await rowOf(one))) await removeRow(one)
        else countUnknown(one)
        facts.push(...ids.map((sessionId) => ({ sessionId, generation: 0 })))
      }
      return facts
    },
    /** Deletes the old cookie of a request that has it. */
    deleteCookie({ req, res, mode }: Pick<Call, 'req' | 'res' | 'mode'>): void {
      if (mode === 'cookie' && cookie && oldCookieValues(req, cookie).length > 0)
        deleteOldCookie(res, cookie, refresh.cookie)
    },
  }
}

/** Returns the steps of an app with the option. Its endpoints share them, and so their limits. */
export function oldRefreshTokensOf(parts: RefreshParts): OldRefreshTokens | undefined {
  const { oldRefreshTokens } = parts
  if (!oldRefreshTokens) return undefined
  const steps = made.get(parts) ?? createOldRefreshTokens(oldRefreshTokens, parts)
  made.set(parts, steps)
  return steps
}

const made = new WeakMap<RefreshParts, OldRefreshTokens>()
