import { hasMethods } from '../options/checks.js'
import { type Check, InvalidOption } from '../options/read-options.js'

/** The account of a new passkey. */
export interface PasskeyUser {
  /** The id of the account. */
  readonly id: string
  /** The e-mail address of the account. */
  readonly email?: string | null | undefined
}

/** A passkey that an account has already. */
export interface KnownCredential {
  /** The id of the credential in base64url. */
  readonly id: string
  /** The ways to reach the authenticator, as the browser named them. */
  readonly transports: readonly string[]
}

/** A credential as the browser has made it, in the JSON of WebAuthn. The texts are not checked. */
export interface SentCredential {
  /** The id of the credential in base64url. */
  readonly id: string
  /** The same id once more. */
  readonly rawId: string
  /** `public-key`, or what the client sent. */
  readonly type: string
  /** The members of the response, such as `clientDataJSON`. */
  readonly response: Readonly<Record<string, string>>
  /** The ways to reach the authenticator. */
  readonly transports: readonly string[]
}

/** The values that a credential must have. */
export interface ExpectedCredential {
  /** The challenge in base64url. */
  readonly challenge: string
  /** The origins of your pages. */
  readonly origins: readonly string[]
}

/**
 * Checks passkeys for `createAuth`. Returned by `passkeys` of `express-token-endpoint/passkeys`. Only `createAuth` calls the methods.
 */
export interface PasskeyChecks {
  /** The domain of the passkeys. */
  readonly rpId: string
  /** The origins of your pages. Undefined: the origin of the issuer. */
  readonly origins: readonly string[] | undefined
  /** Returns the name of an account, which browsers show in their list of passkeys. */
  userName(account: PasskeyUser): string
  /** Returns the options for a new passkey as JSON. */
  registrationOptions(of: {
    readonly challenge: Uint8Array
    readonly userHandle: Uint8Array
    readonly userName: string
    readonly known: readonly KnownCredential[]
  }): Promise<object>
  /**
   * Checks a new passkey.
   * @throws Error for one that is not valid
   */
  verifyRegistration(
    sent: SentCredential,
    expected: ExpectedCredential,
  ): Promise<{
    /** The id of the credential in base64url. */
    readonly id: string
    /** The public key in COSE. */
    readonly publicKey: Uint8Array
    /** The signature counter. */
    readonly counter: number
  }>
  /** Returns the options for a sign-in as JSON. */
  authenticationOptions(challenge: Uint8Array): Promise<object>
  /**
   * Checks the signature of a passkey. The caller compares the counter.
   * @throws Error for a passkey that is not valid
   */
  verifyAssertion(
    sent: SentCredential,
    expected: ExpectedCredential,
    publicKey: Uint8Array,
  ): Promise<{
    /** The signature counter. */
    readonly counter: number
  }>
}

const METHODS = [
  'userName',
  'registrationOptions',
  'verifyRegistration',
  'authenticationOptions',
  'verifyAssertion',
] as const satisfies readonly (keyof PasskeyChecks)[]

export const passkeysOption: Check<PasskeyChecks | undefined> = (value) => {
  if (value === false) return undefined
  if (hasMethods(value, METHODS)) return value as PasskeyChecks
  throw new InvalidOption("passkeys({ rpId: 'example.com' }) of express-token-endpoint/passkeys")
}
