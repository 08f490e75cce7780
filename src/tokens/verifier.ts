import { AuthError } from '../errors/auth-error.js'
import { misuse, PAGE } from '../options/misuse.js'
import { ignoreRejection, memberOf } from '../options/values.js'
import type { IssuedToken, TokenSubject } from './jwt/issue-token.js'
import type { Wait } from './keys/key-ring.js'
import type { CustomTokenVerifier } from './token-verifier.js'
import { invalidToken, toVerifiedToken, type VerifiedToken } from './verified-token.js'

/** A verifier as the guard uses it. Our own verifiers carry one, and {@link toVerifier} creates one for a verifier of the host. */
export interface Verifier {
  readonly issuer: string
  /** The number of verified tokens that stay cached. 0 without a cache. */
  readonly cacheSize: number
  /** The difference between clocks that is tolerated, in milliseconds. */
  readonly tolerance: number
  /** Returns whether the verifier takes a text that names no issuer of the list. Default: no such text. */
  readonly accepts?: ((text: string, isJwt: boolean) => boolean) | undefined
  /** True when the tokens of a verifier with `accepts` may have sessions. The tokens of an issuer always may. */
  readonly hasSessions?: boolean | undefined
  /** True when the tokens are of this package, so that their issuer may also have written refresh tokens of the app. Default: false. */
  readonly isOfPackage?: boolean
  /** The current time by the verifier's clock, in milliseconds. */
  now(): number
  /** Returns a token that was verified before and is still valid. */
  cached(text: string): VerifiedToken | undefined
  /**
   * Verifies a token.
   * @param wait calls what may take time: a fetch of keys, and the verifier of the host
   * @throws AuthError `invalid_token`, or `unavailable`
   */
  verify(text: string, wait?: Wait): Promise<VerifiedToken>
}

const verifiers = new WeakMap<object, Verifier>()

export function withVerifier<T extends object>(tokens: T, verifier: Verifier): T {
  verifiers.set(tokens, verifier)
  return tokens
}

/** Returns the verifier of an object of this package. A copy or a proxy of the object has none, so its own `verify` is used. */
export const verifierOf = (tokens: object): Verifier | undefined => verifiers.get(tokens)

/** Creates the verifier of a host's object. It has no cache, and by default the time of this process. */
function hostVerifier(tokens: CustomTokenVerifier, now = () => Date.now()): Verifier {
  const { issuer } = tokens
  const isUnnamed = memberOf(tokens, 'accepts') !== undefined
  return {
    issuer,
    accepts: isUnnamed ? (text, isJwt) => !isJwt && askWhether(tokens, text) : undefined,
    cacheSize: 0,
    tolerance: 0,
    now,
    cached: () => undefined,
    verify: (text, wait: Wait = (_, call) => call()) =>
      wait(issuer, async () => {
        const auth = toVerifiedToken(await tokens.verify(text), issuer, isUnnamed)
        // A forgotten `return` in a host's own `verify` does not count as a token.
        if (!auth) throw misuse('tokens: verify must return a verified token, or throw')
        if (auth.issuer !== issuer)
          throw misuse('tokens: verify returned a token from a different issuer', PAGE.issuers)
        if (!(now() < auth.expiresAt.getTime())) throw invalidToken('expired', auth)
        return auth
      }),
  }
}

/** @throws AuthError `unavailable` when the host's function fails, so that no other verifier gets the text */
function askWhether(tokens: CustomTokenVerifier, text: string): boolean {
  try {
    const accepted: unknown = ignoreRejection(tokens.accepts?.(text))
    if (typeof accepted === 'boolean') return accepted
    throw misuse('tokens: accepts must return true or false', PAGE.issuers)
  } catch (cause) {
    throw new AuthError('unavailable', { dependency: 'keys', issuer: tokens.issuer, cause })
  }
}

/** Gives a verifier that is written like one of a host the clock of the app. */
export const withClock = (tokens: CustomTokenVerifier, now: () => number): CustomTokenVerifier =>
  withVerifier(tokens, hostVerifier(tokens, now))

/** Returns the verifier of an object of this package or of the host. */
export const toVerifier = (tokens: CustomTokenVerifier): Verifier => verifierOf(tokens) ?? hostVerifier(tokens)

/** Issues a token without waiting. Returns undefined when the key is not in memory. */
export type IssueNow = (subject: TokenSubject) => IssuedToken | undefined

const issuers = new WeakMap<object, IssueNow>()

export function withIssueNow<T extends object>(tokens: T, issueNow: IssueNow): T {
  issuers.set(tokens, issueNow)
  return tokens
}

/** Returns the function of an issuer of this package that issues without waiting. A copy or a proxy of the issuer has none. */
export const issueNowOf = (tokens: object): IssueNow | undefined => issuers.get(tokens)
