import { createGate } from '../concurrency/gate.js'
import { callHost } from '../concurrency/host-call.js'
import { createTurnQueue } from '../concurrency/turn-queue.js'
import { type LazyOrigin, sourceIn } from '../http/origin.js'
import { GUARDED_REQUESTS } from '../http/request-limits.js'
import { misuse, PAGE } from '../options/misuse.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import type { Verifier } from '../tokens/verifier.js'
import type { Verifiers } from '../tokens/verifiers.js'
import { invalidToken } from './ask-host.js'
import { assertB64Token } from './bearer-header.js'

/** The options that these steps read. */
export interface VerifySettings {
  readonly tokens: Verifiers
  readonly timeout: number
}

/** A request with a token that is not cached waits here for its verification. */
const waitForTurn = createTurnQueue(GUARDED_REQUESTS)

/** Limits the requests that wait for the key source, the revocation check, the sessions and the account store. */
export const { run: limitHostCalls } = createGate(GUARDED_REQUESTS)

/** Refusals of a verifier, which may be the host's own. */
const VERIFIER_REFUSALS = ['invalid_token', 'unavailable'] as const

/** Verifies a token that is not cached: at once, unless other requests are first, its key has to be fetched or the verifier is the host's. */
export function verifyBearer(
  settings: VerifySettings,
  origin: LazyOrigin,
  text: string,
): VerifiedToken | Promise<VerifiedToken> {
  assertB64Token(text)
  const turn = waitForTurn(() => sourceIn(origin))
  return turn ? verifyInTurn(turn, settings, origin, text) : verifyNow(settings, origin, text)
}

async function verifyInTurn(
  turn: Promise<void>,
  settings: VerifySettings,
  origin: LazyOrigin,
  text: string,
): Promise<VerifiedToken> {
  await turn
  return verifyNow(settings, origin, text)
}

function verifyNow(settings: VerifySettings, origin: LazyOrigin, text: string): VerifiedToken | Promise<VerifiedToken> {
  const verifier = settings.tokens.select(text)
  return verifier.verifyNow(text) ?? verifyLater(settings, origin, text, verifier)
}

function verifyLater(
  { tokens, timeout }: VerifySettings,
  origin: LazyOrigin,
  text: string,
  verifier: Verifier,
): Promise<VerifiedToken> {
  const options = { timeout, passThrough: VERIFIER_REFUSALS, about: { issuer: verifier.issuer } }
  return limitHostCalls(sourceIn(origin), () => callHost('keys', () => callVerifier(tokens, verifier, text), options))
}

async function callVerifier(tokens: Verifiers, verifier: Verifier, text: string): Promise<VerifiedToken> {
  const auth = await verifier.verify(text)
  if (tokens.ofToken(auth) !== verifier) throw misuse('tokens: verify returned a token of another issuer', PAGE.issuers)
  assertNotExpired(tokens, auth)
  return auth
}

/** Refuses a token that has expired: in the host's own verifier, or while the host's functions took their time. */
export function assertNotExpired(tokens: Verifiers, auth: VerifiedToken): void {
  const { now, tolerance } = tokens.ofToken(auth)
  if (!(now() < auth.expiresAt.getTime() + tolerance)) throw invalidToken('expired', auth)
}
