import { noteSecret } from '../events/shared-secrets.js'
import { LONGEST_AGE } from '../options/checks.js'
import { misuse, PAGE, type Subject } from '../options/misuse.js'
import { type Checked, readOptions } from '../options/read-options.js'
import { keyFor } from '../options/secret.js'
import { isPlainObject, memberOf } from '../options/values.js'
import { createVerifier } from './create-verifier.js'
import {
  createIdTokenVerifier,
  type IdTokenVerifier,
  type IdTokenVerifierOptions,
  idTokenSchema,
} from './id-token-verifier.js'
import { ISSUED_FORM, TYP } from './jwt/claims.js'
import { type IssuedToken, issueToken, type TokenSubject } from './jwt/issue-token.js'
import { providerForm } from './jwt/provider-claims.js'
import { createSigner } from './jwt/signature.js'
import { holdKeys, type KeyRing, type PublicJwk, readKeys } from './keys/key-ring.js'
import { hasRemoteKeys, readVerifierKeys, wrongKeys } from './keys/verifier-keys.js'
import {
  issuedVerifierSchema,
  issuerSchema,
  type JwtVerifierOptions,
  jwtSchema,
  type TokenIssuerOptions,
  type TokenVerifierOptions,
  tokenAliases,
} from './token-options.js'
import type { TypedVerifier } from './token-verifier.js'
import { type IssueNow, withIssueNow } from './verifier.js'

/** Issues the tokens of one environment, and verifies them. Returned by `createTokenIssuer`. */
export interface TokenIssuer extends TypedVerifier {
  /**
   * Issues a token. `iat` and `exp` are whole seconds, and `jti` has the milliseconds. Two tokens are never the same.
   * @throws TypeError when the account id, the scopes or the claims are not valid. AuthError `unavailable` when `sign` of the key fails, and
   * `overloaded` when 1,024 of its signatures are under way
   */
  issue(subject: TokenSubject): Promise<IssuedToken>
  /**
   * Issues a token like `issue`, without a promise: for tests, and for code that cannot wait. The key must be in memory.
   * @throws TypeError naming the key when it has `sign`, and when the account id, the scopes or the claims are not valid
   */
  issueSync(subject: TokenSubject): IssuedToken
  /**
   * Replaces the keys while the process runs, for example after one has leaked. The first key signs from now on. Tokens of a key that is
   * gone are refused at once, and tokens of the other keys stay valid.
   * @throws TypeError that names the invalid key, and for secrets instead of key pairs; the previous keys then stay
   */
  replaceKeys(keys: TokenIssuerOptions['keys']): void
  /** The current time, by the issuer's `clock`. */
  now(): Date
  /** The public keys as a JWK set (RFC 7517 section 5), without secrets. */
  jwks(): {
    /** One key for each key pair in `keys`. The signing key is the first. */
    keys: PublicJwk[]
  }
}

/**
 * Creates the issuer of one environment's tokens. It also verifies them.
 * @throws TypeError naming the option that is not valid
 */
export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  return issuerOf(ISSUER, readIssuerOptions(options))
}

const ISSUER = 'createTokenIssuer'

const readIssuerOptions = (options: TokenIssuerOptions): IssuerSettings =>
  readOptions<TokenIssuerOptions, typeof issuerSchema>(ISSUER, options, issuerSchema, tokenAliases)

/** The options of an issuer after {@link issuerSchema}: times in milliseconds, the keys still unread. */
export type IssuerSettings = Checked<typeof issuerSchema>

/** @throws TypeError naming the key that is not valid */
export const issuerOf = (caller: Subject, read: IssuerSettings): TokenIssuer =>
  issuerWith(read, holdKeyRing(caller, read))

/**
 * Creates the issuer of an app, and the issuer of its tickets, which are tokens of another audience. A key of the tokens that has leaked must
 * sign no tickets either: with secrets, tickets have their own key, and otherwise both always have the same keys.
 * @param secrets the option `secret`. The tokens have keys of it where the options have none
 * @throws TypeError naming the option that is not valid
 */
export function createIssuers(
  options: TokenIssuerOptions,
  secrets?: readonly Uint8Array[],
): Record<'tokens' | 'tickets', TokenIssuer> {
  const given = readIssuerOptions(options)
  const keysFor = (purpose: 'access token' | 'ticket') =>
    secrets?.map((secret) => ({ alg: 'HS256', secret: keyFor(secret, purpose, given.issuer) }))
  const read = { ...given, keys: given.keys ?? keysFor('access token') }
  const ring = holdKeyRing(ISSUER, read)
  const audience = `${read.audience ?? read.issuer}#ticket`
  const ofTickets = { ...read, audience, cache: false as const, lifetime: LONGEST_AGE }
  return {
    tokens: issuerWith(read, ring),
    tickets: issuerWith(ofTickets, secrets ? holdKeyRing(ISSUER, { ...read, keys: keysFor('ticket') }) : ring),
  }
}

/** Holds the keys of issuers, and the signer of the first key. */
function holdKeyRing(caller: Subject, { keys: given, timeout }: IssuerSettings) {
  function readRing(caller: Subject, value: unknown, held?: KeyRing): KeyRing {
    if (hasRemoteKeys(value)) {
      const mistake = 'but remoteKeys() has only public keys. Pass a key pair. To verify only, use createTokenVerifier'
      throw wrongKeys(caller, `hold a key that signs, ${mistake}`)
    }
    const ring = readKeys(caller, value, held)
    const { key } = ring.first
    if (key.type === 'secret') noteSecret('keys', key.export())
    if (!ring.first.signingKey && !ring.first.sign) {
      const what = 'a "privateKey", a "secret" or a "publicKey" with "sign". To verify only, use createTokenVerifier'
      throw misuse(`${caller}: the first key in "keys" signs, so it must be ${what}`, PAGE.keys)
    }
    if (held?.first.key.type === 'public' && ring.first.key.type === 'secret') {
      throw wrongKeys(caller, 'stay key pairs, because secrets are never published. Pass key pairs')
    }
    return ring
  }
  const keys = holdKeys(caller, readRing, given)
  const currentSigner = () => createSigner(keys.current.first, TYP, timeout)
  const held = {
    keys,
    sign: currentSigner(),
    replaceKeys(value: unknown) {
      keys.replace(value)
      held.sign = currentSigner()
    },
  }
  return held
}

function issuerWith(read: IssuerSettings, held: ReturnType<typeof holdKeyRing>): TokenIssuer {
  const { issuer, audience = issuer, clientId = issuer } = read
  const { keys, replaceKeys } = held
  const issuing = { ...read, audience, clientId, sign: (payload: object) => held.sign(payload) }
  const issueNow: IssueNow = (subject) =>
    keys.current.first.sign ? undefined : (issueToken(issuing, subject) as IssuedToken)
  const issuerMembers = {
    issue: async (subject: TokenSubject) => issueToken(issuing, subject),
    issueSync(subject: TokenSubject) {
      const issued = issueNow(subject)
      if (issued) return issued
      const { kid } = keys.current.first
      throw misuse(`issueSync: the key "${kid}" signs with "sign", which returns a promise. Use issue()`)
    },
    replaceKeys,
    now: () => new Date(read.clock()),
    jwks: () => ({ keys: keys.current.publicJwks() }),
  }
  return Object.freeze(withIssueNow(createVerifier(read, keys, ISSUED_FORM, issuerMembers), issueNow))
}

/** A verifier whose keys are in this process, or `remoteKeys`. Returned by `createTokenVerifier`. */
export interface KeyVerifier extends TypedVerifier {
  /**
   * Replaces the keys while the process runs. Tokens of a key that is gone are refused at once, and tokens of the other keys stay valid.
   * @throws TypeError that names the invalid key; the previous keys then stay
   */
  replaceKeys(keys: TokenVerifierOptions['keys']): void
}

/**
 * Creates a verifier, for a service that holds no signing key.
 * @throws TypeError naming the option that is not valid
 */
export function createTokenVerifier(options: IdTokenVerifierOptions): IdTokenVerifier
export function createTokenVerifier(options: TokenVerifierOptions | JwtVerifierOptions): KeyVerifier
export function createTokenVerifier(
  options: TokenVerifierOptions | JwtVerifierOptions | IdTokenVerifierOptions,
): KeyVerifier | IdTokenVerifier {
  const caller = 'createTokenVerifier'
  if (isForIdTokens(options)) {
    const read = readOptions<IdTokenVerifierOptions, typeof idTokenSchema>(caller, options, idTokenSchema, tokenAliases)
    return createIdTokenVerifier(read, holdKeys(caller, readVerifierKeys, read.keys))
  }
  const { form, ...read } = readVerifierOptions(caller, options)
  const keys = holdKeys(caller, readVerifierKeys, read.keys)
  return Object.freeze(createVerifier(read, keys, form, { replaceKeys: keys.replace }))
}

const isForIdTokens = (options: unknown): options is IdTokenVerifierOptions =>
  isPlainObject(options) && memberOf(options, 'accept') === 'id-token'

function readVerifierOptions(caller: Subject, options: TokenVerifierOptions | JwtVerifierOptions) {
  if (isPlainObject(options) && memberOf(options, 'accept') !== undefined) {
    const given = options as JwtVerifierOptions
    const read = readOptions<JwtVerifierOptions, typeof jwtSchema>(caller, given, jwtSchema, tokenAliases)
    return { ...read, form: providerForm(read) }
  }
  type ForIssued = TokenVerifierOptions & Record<'scopes' | 'accountId' | 'authorizedParties', unknown>
  const read = readOptions<ForIssued, typeof issuedVerifierSchema>(
    caller,
    options as ForIssued,
    issuedVerifierSchema,
    tokenAliases,
  )
  return { ...read, form: ISSUED_FORM }
}
