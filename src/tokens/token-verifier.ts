import type { PrivateClaims, VerifiedToken } from './verified-token.js'

/** Verifies the tokens of one environment. Returned by `createTokenVerifier`. */
export interface TokenVerifier {
  /** The environment's base URL, without a trailing slash. */
  readonly issuer: string
  /** The audience of its tokens (`aud`). */
  readonly audience: string
  /**
   * Verifies a token's text: algorithm, key, signature, environment, times (RFC 7519 section 7.2, RFC 8725, RFC 9068 section 4).
   * @throws AuthError `invalid_token`, with a `reason`, when the token is refused; `unavailable` when its key may be among remote keys
   * that cannot be fetched
   */
  verify(token: string): Promise<VerifiedToken>
}

/** A verifier of this package, which types the private claims. */
export interface TypedVerifier extends TokenVerifier {
  /**
   * Verifies a token's text: algorithm, key, signature, environment, times (RFC 7519 section 7.2, RFC 8725, RFC 9068 section 4).
   * The type `C` of its private claims is not checked: `claimsOf` does that.
   * @throws AuthError `invalid_token`, with a `reason`, when the token is refused; `unavailable` when its key may be among remote keys
   * that cannot be fetched
   */
  verify<C = PrivateClaims>(token: string): Promise<VerifiedToken<C>>
}

/** A token that a verifier of the host has verified. */
export interface CustomToken extends Pick<VerifiedToken, 'id' | 'accountId' | 'scopes' | 'issuedAt'> {
  /** The issuer. Default: that of the verifier, and no other is possible. */
  readonly issuer?: string | undefined
  /** The audience. Default: an empty text. */
  readonly audience?: string | undefined
  /** The client. Default: none. */
  readonly clientId?: string | undefined
  /** The expiration. Default: none. */
  readonly expiresAt?: Date | undefined
  /** The private claims, which `req.auth.claims` returns as they are: a route that changes them changes yours. Default: none. */
  readonly claims?: PrivateClaims | undefined
}

/** A verifier of the host, in `tokens` of a guard. A `TokenVerifier` is one. */
export interface CustomTokenVerifier {
  /** The issuer of its tokens. No other verifier of the guard has it. */
  readonly issuer: string
  /**
   * Returns whether a text may be one of this verifier, for example by its prefix. The guard asks the verifiers of its list in order, and
   * never about a JWT. Use it for API keys. Default: the verifier gets the JWTs whose claim `iss` is its issuer. Tokens of a verifier with
   * this method have no session, so `sessions` of the guard does not look for one. An error, or another value than a boolean, causes a
   * `503`.
   */
  accepts?(text: string): boolean
  /**
   * Verifies a token, on every request. Throw `new AuthError('invalid_token')` to refuse it. Another error, another value than a token, and a
   * result after the guard's `timeout` cause a `503`.
   */
  verify(text: string): CustomToken | Promise<CustomToken>
}
