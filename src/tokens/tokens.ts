import { randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { AuthError, type TokenRefusal } from '../errors.js'
import {
  type Check,
  type Clock,
  clock,
  type Duration,
  duration,
  Expected,
  isPlainObject,
  isScopeList,
  optional,
  readOptions,
  text,
} from '../options.js'
import { REGISTERED, readClaims, type VerifiedToken } from './claims.js'
import { readHeader } from './compact.js'
import {
  type KeyRing,
  type KeySource,
  type PublicJwk,
  type PublicTokenKey,
  readKeys,
  type SecretTokenKey,
  type TokenKey,
} from './keys.js'

/** The media type of a JWT access token, in its `typ` header (RFC 9068 section 2.1). */
const TYP = 'at+jwt'

type VerifierKey = SecretTokenKey | PublicTokenKey

export interface TokenVerifierOptions {
  /** This environment's base URL: absolute, http or https. Bound into every token as `iss`. A trailing slash makes no difference. */
  issuer: string | undefined
  /** Whom the tokens are meant for (`aud`). Default: the issuer. */
  audience?: string | undefined
  /** Public keys or secrets: one, or a list of which any may verify. */
  keys: VerifierKey | readonly VerifierKey[]
  /** By how much clocks may differ. Default 0, at most one minute. */
  clockTolerance?: Duration | undefined
  /** The current time. Default: `Date.now`. */
  clock?: Clock | undefined
}

export interface TokenIssuerOptions extends Omit<TokenVerifierOptions, 'keys'> {
  /** One key, or a list: the first signs, all verify. */
  keys: TokenKey | readonly TokenKey[]
  /** How long a token is good for. Default one hour; at least one second, at most a year. */
  lifetime?: Duration | undefined
}

export interface TokenVerifier {
  /** The environment's base URL, without a trailing slash. */
  readonly issuer: string
  readonly audience: string
  /**
   * Verifies a token's text: algorithm, key, signature, environment, times (RFC 7519 section 7.2, RFC 8725, RFC 9068 section 4).
   * @throws AuthError `invalid_token`, with a `reason`, when the token is refused
   */
  verify(token: string): Promise<VerifiedToken>
}

export interface TokenIssuer extends TokenVerifier {
  /**
   * Issues a token. Its times are whole seconds; two tokens are never the same.
   * @throws TypeError when the account id, the scopes or the claims cannot be put into a token
   */
  issue(subject: TokenSubject): IssuedToken
  /** The current time, by the `clock` that tokens are issued by. */
  now(): Date
  /** The public keys as a JWK set (RFC 7517 section 5). Secrets are never in it. */
  jwks(): { keys: PublicJwk[] }
}

export interface TokenSubject {
  /** Becomes `sub`. */
  accountId: string
  /** Become `scope`. */
  scopes?: readonly string[] | undefined
  /** Private claims. Those that the issuer writes itself (`iss`, `sub`, `exp`, `scope` …) are left out. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /**
   * When the account was looked at. Default: now. A password that is changed while a login is under way then ends its token
   * too, by `tokensValidAfter`.
   */
  issuedAt?: Date | undefined
}

export interface IssuedToken {
  /** The token's text: a secret. */
  token: string
  /** The token's own `exp`. */
  expiresAt: Date
  /** The token's `jti`. */
  id: string
}

const baseUrl: Check<string> = (value) => {
  const what = "an absolute http or https URL without query and fragment, like 'https://api.example.com'"
  const url =
    typeof value === 'string' && /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)
      ? new URL(value)
      : undefined
  if (!url) {
    const bare = typeof value === 'string' && /^[\w.-]+(:\d+)?(\/|$)/.test(value)
    const unset = value === undefined ? 'Is an environment variable not set?' : ''
    throw new Expected(what, bare ? 'Is "https://" missing?' : unset)
  }
  if (url.search || url.hash || url.username || url.password || /[?#]$/.test(value as string)) throw new Expected(what)
  return url.href.replace(/\/+$/, '')
}

const verifierRows = {
  issuer: baseUrl,
  audience: optional(text('a non-empty string')),
  keys: (value: unknown) => value,
  clockTolerance: optional(duration(0, 60_000), 0),
  clock: optional(clock, Date.now),
}

const issuerRows = { ...verifierRows, lifetime: optional(duration(1000, 366 * 86_400_000), 3_600_000) }

const MISTAKES = {
  secret: 'keys',
  secretOrKey: 'keys',
  key: 'keys',
  privateKey: 'keys',
  publicKey: 'keys',
  algorithm: 'keys',
  algorithms: 'keys',
  jwks: 'keys',
  jwksUri: 'keys',
  iss: 'issuer',
  issuerBaseURL: 'issuer',
  baseUrl: 'issuer',
  aud: 'audience',
  expiresIn: 'lifetime',
  expiration: 'lifetime',
  exp: 'lifetime',
  ttl: 'lifetime',
  maxAge: 'lifetime',
  leeway: 'clockTolerance',
  skew: 'clockTolerance',
  now: 'clock',
}

/**
 * Makes the issuer of one environment's tokens; it verifies them too.
 * @throws TypeError naming the option that cannot be used
 */
export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const caller = 'createTokenIssuer'
  const read = readOptions<TokenIssuerOptions, typeof issuerRows>(caller, options, issuerRows, MISTAKES)
  const ring = readKeys(caller, read.keys)
  const { signingKey } = ring.first
  if (!signingKey) {
    throw new TypeError(
      `${caller}: the first of "keys" signs, so it must be a "privateKey" or a "secret", but is a "publicKey". To verify only, use createTokenVerifier`,
    )
  }
  const verifier = verifierOf({ ...read, audience: read.audience ?? read.issuer }, ring)
  return Object.freeze({
    ...verifier,
    issue: (subject: TokenSubject) => issue({ ...read, ...verifier, ring, signingKey }, subject),
    now: () => new Date(read.clock()),
    jwks: () => ({ keys: ring.publicJwks() }),
  })
}

/**
 * Makes the verifying half alone, for a service that holds no signing key.
 * @throws TypeError naming the option that cannot be used
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const caller = 'createTokenVerifier'
  const read = readOptions<TokenVerifierOptions, typeof verifierRows>(caller, options, verifierRows, MISTAKES)
  for (const key of [read.keys].flat()) {
    if (isPlainObject(key) && key['privateKey'] !== undefined) {
      throw new TypeError(
        `${caller}: option "keys" must hold no "privateKey": a verifier signs nothing. Give the "publicKey"`,
      )
    }
  }
  return Object.freeze(verifierOf({ ...read, audience: read.audience ?? read.issuer }, readKeys(caller, read.keys)))
}

interface Environment {
  issuer: string
  audience: string
  clock: () => number
  clockTolerance: number
}

interface Signer extends Omit<Environment, 'clockTolerance'> {
  lifetime: number
  ring: KeyRing
  signingKey: NonNullable<KeyRing['first']['signingKey']>
}

function issue(signer: Signer, subject: TokenSubject): IssuedToken {
  const { accountId, scopes = [], claims = {}, issuedAt } = subject
  if (typeof accountId !== 'string' || accountId === '')
    throw new TypeError('issue: "accountId" must be a non-empty string')
  if (!isScopeList(scopes))
    throw new TypeError('issue: "scopes" must be an array of scope tokens (RFC 6749 section 3.3)')
  if (!isPlainObject(claims)) throw new TypeError('issue: "claims" must be an object')
  const { issuer, audience, clock, lifetime, ring, signingKey } = signer
  const iat = Math.floor((issuedAt?.getTime() ?? clock()) / 1000)
  if (!Number.isFinite(iat)) throw new TypeError('issue: "issuedAt" must be a valid Date')
  const exp = iat + Math.floor(lifetime / 1000)
  const id = randomUUID()
  const registered = {
    iss: issuer,
    aud: audience,
    sub: accountId,
    iat,
    exp,
    jti: id,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
  const { alg, kid } = ring.first
  // As text: of an object, jsonwebtoken takes members like "constructor" for options of its own, and an "iat" of 0 for none.
  const payload = JSON.stringify(Object.fromEntries([...privateClaims(claims), ...Object.entries(registered)]))
  const token = jwt.sign(payload, signingKey, { algorithm: alg, header: { alg, typ: TYP, kid } })
  return { token, expiresAt: new Date(exp * 1000), id }
}

/** What of an account's claims goes into a token: JSON values, none of them by a name that the issuer writes itself. */
function privateClaims(claims: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(claims).filter(([name, value]) => !isRegistered(name) && typeof value !== 'function')
}

function isRegistered(name: string): boolean {
  return (REGISTERED as readonly string[]).includes(name)
}

function verifierOf({ issuer, audience, clock, clockTolerance }: Environment, keys: KeySource): TokenVerifier {
  return {
    issuer,
    audience,
    async verify(token) {
      const payload = checkSignature(token, keys)
      const result = readClaims(payload, { issuer, audience, now: clock() / 1000, tolerance: clockTolerance / 1000 })
      if (typeof result === 'string') throw refusal(result, tokenIdOf(payload))
      return result
    },
  }
}

/** The payload of a token that one of the keys signed. */
function checkSignature(token: unknown, keys: KeySource): unknown {
  const header = typeof token === 'string' ? readHeader(token) : undefined
  if (!header) throw refusal('malformed')
  if (header.critical) throw refusal('critical_header')
  if (header.typ !== TYP) throw refusal('type')
  const key = typeof header.kid === 'string' ? keys.find(header.kid) : undefined
  if (!key) throw refusal('unknown_key')
  if (header.alg !== key.alg) throw refusal('algorithm')
  try {
    // jsonwebtoken checks the signature; of the claims it lets too much pass, so readClaims holds them all.
    return jwt.verify(token as string, key.key, {
      algorithms: [key.alg],
      ignoreExpiration: true,
      ignoreNotBefore: true,
    })
  } catch {
    throw refusal('signature')
  }
}

function tokenIdOf(payload: unknown): string | undefined {
  const id = isPlainObject(payload) ? payload['jti'] : undefined
  return typeof id === 'string' ? id : undefined
}

function refusal(reason: TokenRefusal, tokenId?: string): AuthError {
  return new AuthError('invalid_token', { reason, ...(tokenId !== undefined && { tokenId }) })
}
