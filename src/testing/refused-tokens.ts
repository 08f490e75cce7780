import { createHmac, createPublicKey } from 'node:crypto'
import type { IssuedToken, TokenSubject } from '../tokens/jwt/issue-token.js'
import { signCompact } from '../tokens/jwt/signature.js'
import { readKeys } from '../tokens/keys/key-ring.js'
import { type IssuerSettings, issuerOf, type TokenIssuer } from '../tokens/tokens.js'

/**
 * Functions that make tokens with one fault each. Guards refuse them with `401` and `error="invalid_token"`. The event has the
 * `reason` that is given here.
 */
export interface RefusedTokens<Make> {
  /** A token that expired a minute ago. Reason `expired`. */
  readonly expired: Make
  /** A token that becomes valid in two minutes. Reason `not_yet_valid`. */
  readonly notYetValid: Make
  /** A token of another issuer, for the right audience and signed with the right key. Reason `issuer`. */
  readonly foreign: Make
  /** A token that is signed with another key, and names this key. Reason `unknown_key`. */
  readonly foreignKey: Make
  /** A token of this environment for another audience. Reason `audience`. */
  readonly otherAudience: Make
  /** A token with the signature of another token. Reason `signature`. */
  readonly forged: Make
  /** A token without its signature. Reason `malformed`. */
  readonly malformed: Make
  /** A token whose header says that it needs no signature: `alg` is `none` (RFC 8725 section 2.1). Reason `malformed`. */
  readonly unsigned: Make
  /** A token with an HMAC whose secret is the public key, in PEM (RFC 8725 section 2.1). Reason `algorithm`. */
  readonly publicKeyAsSecret: Make
  /** An ID token, which says who signed in and gives no access: its `typ` is `JWT` (RFC 9068 section 5). Reason `type`. */
  readonly idToken: Make
}

/** A token that only an issuer with sessions can make. */
export interface RefusedSessionTokens<Make> extends RefusedTokens<Make> {
  /** A token whose session is not in the store, as after a sign-out. Reason `revoked`. */
  readonly endedSession: Make
}

/** The largest `clockTolerance` of a verifier, in milliseconds. */
const MOST_TOLERANCE = 60_000

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())

/** Splits the text of a token. */
function partsOf(token: string) {
  const [header = '', payload = '', signature = ''] = token.split('.')
  return { header, payload, signature }
}

/** Returns the HMAC that an attacker makes who knows only public keys. For an issuer with a secret, the key is not related to it. */
function withPublicKey(text: string, hash: string, tokens: TokenIssuer): string {
  const [jwk] = tokens.jwks().keys
  const publicKey = jwk
    ? createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    : tokens.issuer
  return createHmac(hash, publicKey).update(text).digest('base64url')
}

/** @param otherKey a key that this environment does not have */
export function refusedTokens(
  tokens: TokenIssuer,
  settings: IssuerSettings,
  otherKey: unknown,
): RefusedTokens<(subject: TokenSubject) => IssuedToken> {
  const { clock, lifetime } = settings
  const caller = 'createTestIssuer'
  const like = (changes: Partial<IssuerSettings>) =>
    issuerOf(caller, { ...settings, audience: tokens.audience, cache: false, ...changes })
  const foreign = like({ issuer: `${tokens.issuer}/another-environment` })
  const foreignKey = like({ keys: otherKey })
  const later = like({ clock: () => clock() + 2 * MOST_TOLERANCE })
  const otherAudience = like({ audience: `${tokens.audience}/another-audience` })
  const { alg, kid, signingKey } = readKeys(caller, settings.keys).first

  const earlier = () => new Date(clock() - lifetime - MOST_TOLERANCE)

  /** Changes the text of a new token. */
  const changed = (change: (parts: ReturnType<typeof partsOf>, subject: TokenSubject) => string) => {
    return (subject: TokenSubject): IssuedToken => {
      const issued = tokens.issueSync(subject)
      return { ...issued, token: change(partsOf(issued.token), subject) }
    }
  }
  return {
    expired: (subject) => tokens.issueSync({ ...subject, issuedAt: earlier() }),
    notYetValid: (subject) => later.issueSync(subject),
    foreign: (subject) => foreign.issueSync(subject),
    foreignKey: (subject) => foreignKey.issueSync(subject),
    otherAudience: (subject) => otherAudience.issueSync(subject),
    forged: changed(({ header, payload }, subject) => {
      const { signature } = partsOf(tokens.issueSync(subject).token)
      return `${header}.${payload}.${signature}`
    }),
    malformed: changed(({ header, payload }) => `${header}.${payload}`),
    unsigned: changed(({ header, payload }) => `${encoded({ ...decoded(header), alg: 'none' })}.${payload}.`),
    publicKeyAsSecret: changed(({ header, payload }) => {
      // Another algorithm than that of the key, also for an issuer with a secret.
      const hmac = alg === 'HS256' ? 'HS512' : 'HS256'
      const text = `${encoded({ ...decoded(header), alg: hmac })}.${payload}`
      return `${text}.${withPublicKey(text, `sha${hmac.slice(2)}`, tokens)}`
    }),
    idToken: changed(({ payload }) =>
      // issueSync has refused a key that is not in memory.
      signingKey ? signCompact({ alg, typ: 'JWT', kid }, decoded(payload), signingKey) : '',
    ),
  }
}
