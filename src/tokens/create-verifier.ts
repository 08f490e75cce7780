import { traceSync, VERIFY } from '../events/tracing.js'
import type { Checked } from '../options/read-options.js'
import type { TokenForm } from './jwt/claims.js'
import { knownHeaders } from './jwt/compact-jws.js'
import { assertTokenText, verifyToken } from './jwt/verify-token.js'
import type { KeySource } from './keys/key-ring.js'
import { retryUnknownKey, unlessUnknownKey } from './keys/remote-keys.js'
import type { verifierSchema } from './token-options.js'
import type { TypedVerifier } from './token-verifier.js'
import { NO_CACHE, verifiedCache } from './verified-cache.js'
import { factsOf, type VerifiedToken } from './verified-token.js'
import { type Verifier, withVerifier } from './verifier.js'

/** Creates a verifier: its public members and further ones, and the verifier that the guard calls. */
export function createVerifier<T extends object>(
  { issuer, audience = issuer, clock, clockTolerance: tolerance, cache }: Checked<typeof verifierSchema>,
  keys: KeySource,
  form: TokenForm,
  members: T,
  accepts?: Verifier['accepts'],
): TypedVerifier & T {
  const { add, fromCache } = cache === false ? NO_CACHE : verifiedCache(cache, keys, clock)
  const material = { keys, form, headers: knownHeaders() }
  function verifyNew(text: string): VerifiedToken {
    const expected = { issuer, audience, now: clock(), tolerance }
    const verification = traceSync(
      VERIFY,
      () => verifyToken(text, material, expected),
      ({ token }) => factsOf(token),
    )
    add(verification)
    return verification.token
  }
  function verifyHere(text: string): VerifiedToken {
    assertTokenText(text)
    return fromCache(text) ?? verifyNew(text)
  }
  const verify = <C>(text: string) => retryUnknownKey(keys, verifyHere, text, issuer) as Promise<VerifiedToken<C>>
  const verifyNow = (text: string) => unlessUnknownKey(keys, verifyNew, text)
  const tokens = { issuer, audience, verify, ...members }
  const cacheSize = cache || 0
  return withVerifier(tokens, { issuer, accepts, cacheSize, tolerance, now: clock, fromCache, verifyNow, verify })
}
