import type { PasskeyChecks, PasskeyUser, SentCredential } from '../factors/passkey-checks.js'
import { func, text } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { type Check, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import { helpers, simplewebauthn } from './simplewebauthn.cjs'

/** The options of `passkeys`. */
export interface PasskeysOptions {
  /** Your page's host or a parent domain, such as `example.com`. Never change this domain, because existing passkeys would stop working. */
  rpId: string
  /**
   * Origins of your pages, such as `['https://app.example.com']`, and of Android apps: `android:apk-key-hash:…`. Default: the issuer's
   * origin.
   */
  origins?: readonly string[] | undefined
  /** Name of your app. Default: `rpId`. */
  name?: string | undefined
  /**
   * Function `({ id, email }) => string` that returns the account name in the browser's passkey list. Default: the email address, or the
   * account's id.
   */
  userName?: ((account: PasskeyUser) => string) | undefined
}

const domain = text(
  'a domain without a protocol and a port, like "example.com"',
  /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/,
)

const isOrigin = (value: unknown): value is string =>
  typeof value === 'string' &&
  (/^android:apk-key-hash:[\w-]+$/.test(value) ||
    (/^https?:\/\//.test(value) && URL.canParse(value) && new URL(value).origin === value))

const originsOption: Check<readonly string[]> = (value) => {
  if (Array.isArray(value) && value.length > 0 && value.every(isOrigin)) return Object.freeze([...value])
  throw new InvalidOption("a list of origins without a trailing slash, like ['https://app.example.com']")
}

const schema = {
  rpId: domain,
  origins: optional(originsOption),
  name: optional(text('a name of 1 to 64 characters', /^.{1,64}$/u)),
  userName: optional(func<(account: PasskeyUser) => string>('a function (account) => name')),
}

const TYPE = 'public-key'
/** The algorithms of the keys (COSE): EdDSA, ES256, RS256, in the order in which they are wanted. */
const ALGORITHMS = [-8, -7, -257]
const TIMEOUT_MS = 300_000

/** @throws TypeError when the package is missing or too old */
function load() {
  const fix = 'Run: npm install @simplewebauthn/server@14'
  try {
    const server = simplewebauthn()
    // Version 14 is the first one with its own errors.
    if (typeof server.SimpleWebAuthnError === 'function') return { ...server, ...helpers() }
  } catch (cause) {
    const isMissing = memberOf(Object(cause), 'code') === 'MODULE_NOT_FOUND'
    const what = isMissing ? 'is missing' : 'cannot be loaded'
    throw Object.assign(misuse(`passkeys: the package @simplewebauthn/server ${what}. ${fix}`), { cause })
  }
  throw misuse(`passkeys: the package @simplewebauthn/server is too old. ${fix}`)
}

/**
 * Creates the checks of passkeys for the option `passkeys` of `createAuth`, with the package `@simplewebauthn/server`.
 * @throws TypeError naming the option that is not valid, and when the package is missing or too old
 */
export function passkeys(options: PasskeysOptions): PasskeyChecks {
  const read = readOptions<PasskeysOptions, typeof schema>('passkeys', options, schema)
  const { rpId, origins, name = rpId, userName = ({ email, id }: PasskeyUser) => email || id } = read
  const {
    generateRegistrationOptions,
    verifyRegistrationResponse,
    generateAuthenticationOptions,
    verifyAuthenticationResponse,
    decodeAttestationObject,
  } = load()

  /** The attestation says which device made a passkey, and may name URLs that the package would fetch. Nobody asked for it. */
  function withoutAttestation(encoded: string): string {
    const data = decodeAttestationObject(new Uint8Array(Buffer.from(encoded, 'base64url'))).get('authData')
    return encodeAttestation(data).toString('base64url')
  }

  const checks: PasskeyChecks = {
    rpId,
    origins,

    userName(account) {
      const given: unknown = userName(account)
      if (typeof given === 'string' && given !== '') return given
      throw misuse('passkeys: option "userName" must return a non-empty string')
    },

    registrationOptions: ({ challenge, userHandle, userName: shown, known }) =>
      generateRegistrationOptions({
        rpName: name,
        rpID: rpId,
        userName: shown,
        userDisplayName: shown,
        userID: new Uint8Array(userHandle),
        challenge: new Uint8Array(challenge),
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        excludeCredentials: known.map(({ id, transports }) => ({ id, transports: [...transports] })),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        supportedAlgorithmIDs: ALGORITHMS,
      }),

    async verifyRegistration(sent, { challenge, origins: expectedOrigin }) {
      const { response } = sent
      const { registrationInfo } = await verifyRegistrationResponse({
        response: {
          ...bodyOf(sent),
          response: {
            clientDataJSON: response['clientDataJSON'] ?? '',
            attestationObject: withoutAttestation(response['attestationObject'] ?? ''),
          },
        },
        expectedChallenge: challenge,
        expectedOrigin: [...expectedOrigin],
        expectedRPID: rpId,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      })
      const credential = registrationInfo?.credential
      if (credential && credential.id === sent.id) return credential
      throw new Error('The id of the credential is not the one that the authenticator has named')
    },

    authenticationOptions: (challenge) =>
      generateAuthenticationOptions({
        rpID: rpId,
        challenge: new Uint8Array(challenge),
        timeout: TIMEOUT_MS,
        userVerification: 'required',
      }),

    async verifyAssertion(sent, { challenge, origins: expectedOrigin }, publicKey) {
      const { clientDataJSON = '', authenticatorData = '', signature = '' } = sent.response
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...bodyOf(sent), response: { clientDataJSON, authenticatorData, signature } },
        expectedChallenge: challenge,
        expectedOrigin: [...expectedOrigin],
        expectedRPID: rpId,
        requireUserVerification: true,
        // With 0 the package does not compare the counter, which only a store can do for several processes.
        credential: { id: sent.id, publicKey: new Uint8Array(publicKey), counter: 0 },
      })
      if (verified !== true) throw new Error('The signature of the passkey is wrong')
      return { counter: authenticationInfo.newCounter }
    },
  }
  return Object.freeze(checks)
}

const bodyOf = ({ id, rawId, type }: SentCredential) => ({
  id,
  rawId,
  type: type as typeof TYPE,
  clientExtensionResults: {},
})

/** Returns an attestation object with an empty statement in CBOR (RFC 8949, WebAuthn section 8.7). */
function encodeAttestation(authData: Uint8Array): Buffer {
  const text = (value: string) => Buffer.from([0x60 + value.length, ...Buffer.from(value)])
  const length = Buffer.alloc(5)
  length[0] = 0x5a
  length.writeUInt32BE(authData.length, 1)
  return Buffer.concat([
    Buffer.from([0xa3]),
    text('fmt'),
    text('none'),
    text('attStmt'),
    Buffer.from([0xa0]),
    text('authData'),
    length,
    authData,
  ])
}
