import { AuthError, type AuthErrorDetails } from '../../errors/auth-error.js'
import type { TokenRefusal } from '../../errors/codes.js'
import { misuse } from '../../options/misuse.js'
import { isPlainObject, own, parseJson } from '../../options/values.js'
import { isNameOf } from '../algorithms/algorithms.js'
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
  const possible = keysOf(compact, keys, form)
  if (typeof possible === 'string') throw refusal(possible, { issuer })
  const key = possible.find((one) => isSignedBy(compact, one))
  if (!key) throw refusal(hasOtherKey(compact, keys) ? 'unknown_key' : 'signature', { issuer })
  const payload = parseJson(compact.payload.toString())
  const result = form.readClaims(payload, expected, compact)
  if (typeof result === 'string') throw refusal(result, { issuer, ...tokenIdOf(payload) })
  const { token, notBefore, notAfter } = result
  return { key, token, notBefore, notAfter }
}

type KeyRules = Pick<TokenForm, 'isType' | 'unnamedKeys'>

/** Returns the keys that may have signed a token, or the reason of a refusal. */
function keysOf(token: CompactToken, keys: KeySource, form: KeyRules): readonly VerificationKey[] | TokenRefusal {
  const { alg, kid, typ, crit } = token
  if (crit !== undefined) return 'critical_header'
  if (!form.isType(typ)) return 'type'
  const named = typeof kid === 'string' ? keys.find(kid) : undefined
  const possible = named ? [named] : unnamedKeys(kid, keys, form)
  if (possible.length === 0) return 'unknown_key'
  const fitting = possible.filter((key) => isNameOf(alg, key.alg))
  if (fitting.length > 0) return fitting
  return hasOtherKey(token, keys) ? 'unknown_key' : 'algorithm'
}

/** Returns the keys of a token that names no known key. */
function unnamedKeys(kid: unknown, keys: KeySource, form: KeyRules): readonly VerificationKey[] {
  if (form.unnamedKeys === 'each') return keys.all()
  const all = form.unnamedKeys === 'only' && kid === undefined ? keys.all() : []
  // Among several keys, a token must name its key (OpenID Connect Core 1.0 section 10.1).
  return all.length === 1 ? all : []
}

/** Returns whether a token that fits no key may have one that was not fetched yet, because it names none of the fetched keys. */
const hasOtherKey = ({ kid }: CompactToken, keys: KeySource) =>
  keys.renew !== undefined && !(typeof kid === 'string' && keys.find(kid))

function tokenIdOf(payload: unknown): { tokenId?: string } {
  const tokenId = isPlainObject(payload) ? own(payload, 'jti') : undefined
  return typeof tokenId === 'string' ? { tokenId } : {}
}

function refusal(reason: TokenRefusal, facts: AuthErrorDetails = {}): AuthError {
  return new AuthError('invalid_token', { reason, ...facts })
}
