import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import { type IssuerSettings, issuerOf, type TokenIssuer } from '../tokens/tokens.js'
import { issueNow } from './issue-now.js'

/**
 * Functions that make tokens with one fault each. Guards refuse them with `401` and `error="invalid_token"`. The event has the
 * `reason` that is given here.
 */
export interface RefusedTokens<Make> {
  /** A token that expired a minute ago. Reason `expired`. */
  readonly expired: Make
  /** A token that becomes valid in two minutes. Reason `not_yet_valid`. */
  readonly notYetValid: Make
  /** A token of another environment with the same key. Reason `issuer`. */
  readonly foreign: Make
  /** A token of another environment with another key. Reason `unknown_key`. */
  readonly foreignKey: Make
  /** A token of this environment for another audience. Reason `audience`. */
  readonly otherAudience: Make
  /** A token with the signature of another token. Reason `signature`. */
  readonly forged: Make
  /** A token without its signature. Reason `malformed`. */
  readonly malformed: Make
}

/** The largest `clockTolerance` of a verifier, in milliseconds. */
const MOST_TOLERANCE = 60_000

/** @param otherKey a key that this environment does not have */
export function refusedTokens(
  tokens: TokenIssuer,
  settings: IssuerSettings,
  otherKey: unknown,
): RefusedTokens<(subject: TokenSubject) => string> {
  const { clock, lifetime } = settings
  const like = (changes: Partial<IssuerSettings>) =>
    issuerOf('createTestIssuer', { ...settings, cache: false, ...changes })
  const issuer = `${tokens.issuer}/another-environment`
  const foreign = like({ issuer })
  const foreignKey = like({ issuer, keys: otherKey })
  const later = like({ clock: () => clock() + 2 * MOST_TOLERANCE })
  const otherAudience = like({ audience: `${tokens.audience}/another-audience` })

  const earlier = () => new Date(clock() - lifetime - MOST_TOLERANCE)
  const signed = (subject: TokenSubject) => {
    const { token } = issueNow(tokens, subject)
    const end = token.lastIndexOf('.')
    return { parts: token.slice(0, end), signature: token.slice(end) }
  }
  return {
    expired: (subject) => issueNow(tokens, { ...subject, issuedAt: earlier() }).token,
    notYetValid: (subject) => issueNow(later, subject).token,
    foreign: (subject) => issueNow(foreign, subject).token,
    foreignKey: (subject) => issueNow(foreignKey, subject).token,
    otherAudience: (subject) => issueNow(otherAudience, subject).token,
    forged: (subject) => signed(subject).parts + signed(subject).signature,
    malformed: (subject) => signed(subject).parts,
  }
}
