import { traceSync, VERIFY } from '../events/tracing.js'
import { text } from '../options/checks.js'
import { type Checked, readOptions } from '../options/read-options.js'
import { exactUrl } from '../options/web-url.js'
import { idTokenForm, type VerifiedIdToken } from './jwt/id-token-claims.js'
import { assertTokenText, verifyToken } from './jwt/verify-token.js'
import type { KeySource } from './keys/key-ring.js'
import { verifyWithNewKeys } from './keys/remote-keys.js'
import { authorizedPartiesOption, type TokenVerifierOptions, verifierSchema } from './token-options.js'

/** The options of `createTokenVerifier` for ID tokens of a provider (OpenID Connect Core 1.0). */
export interface IdTokenVerifierOptions extends Omit<TokenVerifierOptions, 'accept' | 'audience' | 'issuer' | 'cache'> {
  /**
   * Set to `'id-token'`. Guards do not accept this verifier, because it is for [signing in with a
   * provider](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/other-sign-ins.md).
   */
  accept: 'id-token'
  /** Exact value of the tokens' `iss` claim, such as `https://accounts.google.com`. */
  issuer: string | undefined
  /** Your client ID at the provider. */
  audience: string | undefined
  /** Other client IDs of your app that may appear in the `azp` claim. Default: only `audience`. */
  authorizedParties?: readonly string[] | undefined
}

/** Verifies the ID tokens of a provider. Returned by `createTokenVerifier` with `accept: 'id-token'`. A guard refuses it. */
export interface IdTokenVerifier {
  /** The provider. */
  readonly issuer: string
  /** The id of your client. */
  readonly audience: string
  /**
   * Verifies an ID token (OpenID Connect Core 1.0 section 3.1.3.7): algorithm, key, signature, `iss`, `aud`, `azp`, `nonce` and times. An
   * access token is refused.
   * @param options `nonce`: the value that you sent to the provider for this sign-in. A token with another nonce is refused, and so is a
   * token with one where you pass none
   * @throws AuthError `invalid_token`, with a `reason`; `unavailable` when the keys cannot be fetched. TypeError for invalid options
   */
  verify(token: string, options?: { nonce: string }): Promise<VerifiedIdToken>
  /**
   * Replaces the keys while the process runs. Tokens of a key that is gone are refused at once.
   * @throws TypeError that names the invalid key; the previous keys then stay
   */
  replaceKeys(keys: TokenVerifierOptions['keys']): void
}

const { cache: _, ...shared } = verifierSchema

export const idTokenSchema = {
  ...shared,
  issuer: exactUrl,
  audience: text("a non-empty string: with accept: 'id-token', the id of your client at the provider"),
  authorizedParties: authorizedPartiesOption,
  // `createTokenVerifier` has read it to choose this table.
  accept: () => undefined,
}

const callSchema = { nonce: text('the non-empty text that your server stored for this sign-in') }

const made = new WeakSet<object>()

export const isIdTokenVerifier = (value: unknown): boolean => made.has(value as object)

export function createIdTokenVerifier(
  { issuer, audience, authorizedParties, clock, clockTolerance: tolerance }: Checked<typeof idTokenSchema>,
  keys: KeySource & { replace(keys: unknown): void },
): IdTokenVerifier {
  const parties = new Set(authorizedParties).add(audience)
  const material = { keys, form: idTokenForm(parties) }
  const verifier: IdTokenVerifier = {
    issuer,
    audience,
    async verify(token, options) {
      const nonce =
        options === undefined
          ? undefined
          : readOptions<{ nonce: string }, typeof callSchema>('verify', options, callSchema).nonce
      assertTokenText(token)
      function verifyNew(): VerifiedIdToken {
        const expected = { issuer, audience, now: clock(), tolerance, nonce }
        return traceSync(
          VERIFY,
          () => verifyToken(token, material, expected),
          () => ({ issuer }),
        ).token
      }
      try {
        return verifyNew()
      } catch (error) {
        return verifyWithNewKeys(keys, error, verifyNew, issuer)
      }
    },
    replaceKeys: keys.replace,
  }
  made.add(verifier)
  return Object.freeze(verifier)
}
