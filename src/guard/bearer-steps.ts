import type { IncomingMessage } from 'node:http'
import { toRequestUser } from '../accounts/request-user.js'
import { hasBrand } from '../options/brand.js'
import { isThenable, own } from '../options/values.js'
import { AuthError } from '../refusals/auth-error.js'
import { emitter, refusalEvent } from '../refusals/events.js'
import { asRefusal } from '../refusals/send-response.js'
import { addressOf, sourceOf } from '../requests/source.js'
import { factsOf, mayBeRefreshed, type VerifiedToken } from '../tokens/verified-token.js'
import type { Source } from '../waiting/fair-queue.js'
import { createGate } from '../waiting/gate.js'
import { callHost } from '../waiting/host-call.js'
import { GUARDED_REQUESTS } from '../waiting/request-limits.js'
import { createTurnQueue } from '../waiting/turn-queue.js'
import { askHost, invalidToken } from './account-check.js'
import { assertB64Token, readBearer } from './bearer-header.js'
import type { BearerSettings } from './require-bearer-options.js'

/** The result of the guard's steps. On an optional guard without a token, both members are undefined. */
export interface Admission {
  readonly auth: VerifiedToken | undefined
  /** The account without its password hash, where `accounts` is given. */
  readonly user: object | undefined
}

/** A request with a token that is not cached waits here for its verification. */
const waitForTurn = createTurnQueue(GUARDED_REQUESTS)

/** Limits the requests that wait for the key source, the revocation check and the account store. */
const { run: limitHostCalls } = createGate(GUARDED_REQUESTS)

/** Refusals of a verifier, which may be the host's own. */
const VERIFIER_REFUSALS = ['invalid_token', 'unavailable'] as const

/** The most that the clock of a custom verifier may be ahead, in milliseconds: as much as the largest `clockTolerance`. */
const MOST_AHEAD = 60_000

/**
 * Returns the time of the sign-in. `auth_time` (RFC 9470 section 6) stays when an identity provider refreshes a token. NaN for an
 * `auth_time` that is not a number, and for a provider's token without it.
 */
function signInOf(auth: VerifiedToken): number {
  const time = own(auth.claims, 'auth_time') ?? (mayBeRefreshed(auth) ? undefined : Number.POSITIVE_INFINITY)
  return Math.min(typeof time === 'number' ? time * 1000 : Number.NaN, auth.issuedAt.getTime())
}

/** Returns whether a time is at most `span` ago. A time that is not a number, or far in the future, is not. */
function isRecent(time: number, span: number, now: number): boolean {
  return now - time <= span && time - now <= MOST_AHEAD
}

export type BearerSteps = ReturnType<typeof createBearerSteps>

/** Creates the guard's steps, for the middleware and for the Passport strategy: identify → authorize → ask the host. */
export function createBearerSteps(settings: BearerSettings) {
  const { tokens, scope, anyScope, signedInWithin, optional, timeout } = settings
  const asksHost = [settings.isRevoked, settings.sessions, settings.accounts].some((check) => check !== undefined)
  const emit = emitter(settings.onEvent)

  /** Reads the header and returns its token: from the cache, or verified. */
  function identify(req: IncomingMessage): VerifiedToken | undefined | Promise<VerifiedToken> {
    const text = readBearer(req)
    if (text === undefined) return undefined
    const cached = tokens.fromCache(text)
    if (cached) return cached
    assertB64Token(text)
    let source: Source | undefined
    // Read before the wait: when a stream of HTTP/2 has ended, it does not know its connection any more.
    const readSource = () => (source ??= sourceOf(req))
    return waitForTurn(readSource)?.then(() => verify(readSource, text)) ?? verify(readSource, text)
  }

  /** Verifies a token: at once, unless its key has to be fetched or the verifier is the host's own. */
  function verify(readSource: () => Source, text: string): VerifiedToken | Promise<VerifiedToken> {
    const verifier = tokens.select(text)
    const { issuer } = verifier
    const options = { timeout, passThrough: VERIFIER_REFUSALS, about: { issuer } }
    async function verifyLater(): Promise<VerifiedToken> {
      const auth = await verifier.verify(text)
      assertNotExpired(auth)
      return auth
    }
    return verifier.verifySync(text) ?? limitHostCalls(readSource(), () => callHost('keys', verifyLater, options))
  }

  /** Refuses a token that has expired: in the host's own verifier, or while the host's functions took their time. */
  function assertNotExpired(auth: VerifiedToken): void {
    const { now, tolerance } = tokens.verifierOf(auth)
    if (!(now() < auth.expiresAt.getTime() + tolerance)) throw invalidToken('expired', auth)
  }

  /** Refuses a request without a token, unless the guard is optional. Refuses a token without the scopes or of an old sign-in. */
  function authorize(auth: VerifiedToken | undefined): void {
    if (auth === undefined && optional) return
    if (auth === undefined) throw new AuthError('missing_token')
    if (!hasBrand('VerifiedToken', auth)) throw new TypeError('requireBearer: only a verified token is admitted')
    const { scopes } = auth
    if (!scope.every((required) => scopes.includes(required))) {
      throw new AuthError('insufficient_scope', { scope, ...factsOf(auth) })
    }
    if (anyScope && !anyScope.some((enough) => scopes.includes(enough))) {
      throw new AuthError('insufficient_scope', { scope: anyScope, ...factsOf(auth) })
    }
    if (signedInWithin === undefined) return
    if (!isRecent(signInOf(auth), signedInWithin, tokens.verifierOf(auth).now())) {
      const maxAge = Math.floor(signedInWithin / 1000)
      throw new AuthError('insufficient_user_authentication', { maxAge, ...factsOf(auth) })
    }
  }

  async function askHostLater(source: Source, auth: VerifiedToken): Promise<Admission> {
    const found = await limitHostCalls(source, () => askHost(settings, auth))
    assertNotExpired(auth)
    return { auth, user: found && toRequestUser(found) }
  }

  async function checkLater(req: IncomingMessage, identified: Promise<VerifiedToken>): Promise<Admission> {
    const source = sourceOf(req)
    const auth = await identified
    authorize(auth)
    return asksHost ? askHostLater(source, auth) : { auth, user: undefined }
  }

  return {
    /**
     * Runs the guard's steps for one request: at once for a cached token without further checks, otherwise with a promise. Throws or
     * rejects with an `AuthError` for a refusal.
     */
    check: function checkBearer(req: IncomingMessage): Admission | Promise<Admission> {
      const auth = identify(req)
      if (isThenable(auth)) return checkLater(req, auth)
      authorize(auth)
      return auth && asksHost ? askHostLater(sourceOf(req), auth) : { auth, user: undefined }
    },
    /** Returns the refusal that was thrown, and reports it to the host's observer. */
    refuse(thrown: unknown, req: IncomingMessage): AuthError {
      const error = asRefusal('guard', thrown)
      emit({ address: addressOf(req) }, refusalEvent('guard', error))
      return error
    },
  }
}
