import { AuthError, type AuthErrorDetails } from '../../errors/auth-error.js'
import type { TokenRefusal } from '../../errors/codes.js'
import { misuse } from '../../options/misuse.js'
import { isPlainObject, own, parseJson } from '../../options/values.js'
import type { KeySource, VerificationKey } from '../keys/key-ring.js'
import type { VerifiedToken } from '../verified-token.js'
import type { AcceptedClaims, Expectation, TokenForm } from './claims.js'
import { type CompactToken, readCompact } from './compact-jws.js'
import { isSignedBy } from './signature.js'

/** A verified token, and the conditions for its use from the cache. */
export interface Verification<T = VerifiedToken> extends AcceptedClaims<T> {
  readonly key: VerificationKey
}

/** The keys of a verifier, and the form of its tokens. */
interface VerifierMaterial<T = VerifiedToken> {
  readonly keys: KeySource
  readonly form: TokenForm<T>
}

/** The longest token. Node's default limit for all headers of a request is 16 kB. */
const LONGEST = 2 ** 20

/** The schemes of an `Authorization` header that hold a token. */
const SCHEME = /^(Bearer|Token|JWT) /i
const NO_SCHEME = 'tokens: verify got a text with a scheme, like "Bearer …". Pass only the token after it'

/** Requires the text of a token. An object is not converted to text, because it could return another text the next time. */
export function assertTokenText(text: unknown): asserts text is string {
  if (typeof text !== 'string' || text.length > LONGEST) throw refusal('malformed')
  // Only the cause, because the text may come from a client.
  if (SCHEME.test(text)) throw refusal('malformed', { cause: misuse(NO_SCHEME) })
}

/** @throws AuthError `invalid_token` */
export function verifyToken<T>(
  text: string,
  { keys, form }: VerifierMaterial<T>,
  expected: Expectation,
): Verification<T> {
  const compact = readCompact(text)
  const { issuer } = expected
  if (!compact) throw refusal('malformed', { issuer })
  const key = keyOf(compact, keys, form)
  if (typeof key === 'string') throw refusal(key, { issuer })
  if (!isSignedBy(compact, key)) throw refusal('signature', { issuer })
  const payload = parseJson(compact.payload.toString())
  const result = form.readClaims(payload, expected, compact)
  if (typeof result === 'string') throw refusal(result, { issuer, ...tokenIdOf(payload) })
  const { token, notBefore, notAfter } = result
  return { key, token, notBefore, notAfter }
}

/** Returns the key that the token names, or the reason of a refusal. */
function keyOf(
  { alg, kid, typ, crit }: CompactToken,
  keys: KeySource,
  form: Pick<TokenForm, 'types' | 'needsNoKid'>,
): VerificationKey | TokenRefusal {
  if (crit !== undefined) return 'critical_header'
  if (!form.types.includes(typ)) return 'type'
  const key = typeof kid === 'string' || form.needsNoKid ? keys.find(kid as string) : undefined
  if (!key) return 'unknown_key'
  return alg === key.alg ? key : 'algorithm'
}

function tokenIdOf(payload: unknown): { tokenId?: string } {
  const tokenId = isPlainObject(payload) ? own(payload, 'jti') : undefined
  return typeof tokenId === 'string' ? { tokenId } : {}
}

function refusal(reason: TokenRefusal, facts: AuthErrorDetails = {}): AuthError {
  return new AuthError('invalid_token', { reason, ...facts })
}
