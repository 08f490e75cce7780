import { traceSync, VERIFY } from '../events/tracing.js'
import type { Checked } from '../options/read-options.js'
import { ISSUED_FORM, type TokenForm } from './jwt/claims.js'
import { assertTokenText, verifyToken } from './jwt/verify-token.js'
import type { KeySource, Wait } from './keys/key-ring.js'
import { verifyWithNewKeys } from './keys/remote-keys.js'
import type { verifierSchema } from './token-options.js'
import type { TypedVerifier } from './token-verifier.js'
import { verifiedCache } from './verified-cache.js'
import { factsOf, type VerifiedToken } from './verified-token.js'
import { type Verifier, withVerifier } from './verifier.js'

/** Creates a verifier: its public members and further ones, and the verifier that the guard calls. */
export function createVerifier<T extends object>(
  { issuer, audience = issuer, clock, clockTolerance: tolerance, cache }: Checked<typeof verifierSchema>,
  keys: KeySource,
  form: TokenForm,
  members: T,
  unnamed: Pick<Verifier, 'accepts' | 'hasSessions'> = {},
): TypedVerifier & T {
  const cacheSize = cache || 0
  const { add, find: cached } = verifiedCache(cacheSize, keys, clock)
  const material = { keys, form }
  function verifyNew(text: string): VerifiedToken {
    const expected = { issuer, audience, now: clock(), tolerance }
    const verification = traceSync(
      VERIFY,
      () => verifyToken(text, material, expected),
      ({ token }) => factsOf(token),
    )
    add(text, verification)
    return verification.token
  }
  async function verify(text: string, wait?: Wait): Promise<VerifiedToken> {
    assertTokenText(text)
    try {
      return cached(text) ?? verifyNew(text)
    } catch (error) {
      return verifyWithNewKeys(keys, error, () => verifyNew(text), issuer, wait)
    }
  }
  const publicVerify = <C>(text: string) => verify(text) as Promise<VerifiedToken<C>>
  const tokens = { issuer, audience, verify: publicVerify, ...members }
  const isOfPackage = form === ISSUED_FORM
  return withVerifier(tokens, { issuer, ...unnamed, isOfPackage, cacheSize, tolerance, now: clock, cached, verify })
}
