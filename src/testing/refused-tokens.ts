import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import { type IssuerSettings, issuerOf, type TokenIssuer } from '../tokens/tokens.js'

/**
 * What makes a token that guards refuse: each with `401`, `error="invalid_token"`, and the `reason` given here in the event.
 * Each token is good but for the one fault.
 */
export interface RefusedTokens<Make> {
  /** Was good until a minute ago. Reason `expired`. */
  readonly expired: Make
  /** Is good from two minutes later on. Reason `not_yet_valid`. */
  readonly notYetValid: Make
  /** Of another environment that has the same key. Reason `issuer`. */
  readonly foreign: Make
  /** Of another environment, which has a key of its own. Reason `unknown_key`. */
  readonly foreignKey: Make
  /** Of this environment, for another audience. Reason `audience`. */
  readonly otherAudience: Make
  /** With the signature of another token. Reason `signature`. */
  readonly forged: Make
  /** Without its signature. Reason `malformed`. */
  readonly malformed: Make
}

/** As far as any verifier's `clockTolerance` reaches. */
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
  const otherAudience = like({ audience: `${tokens.audience}/another-audience` })

  const at = (ms: number, subject: TokenSubject) => tokens.issue({ ...subject, issuedAt: new Date(clock() + ms) }).token
  const signed = (subject: TokenSubject) => {
    const { token } = tokens.issue(subject)
    const end = token.lastIndexOf('.')
    return { parts: token.slice(0, end), signature: token.slice(end) }
  }
  return {
    expired: (subject) => at(-lifetime - MOST_TOLERANCE, subject),
    notYetValid: (subject) => at(2 * MOST_TOLERANCE, subject),
    foreign: (subject) => foreign.issue(subject).token,
    foreignKey: (subject) => foreignKey.issue(subject).token,
    otherAudience: (subject) => otherAudience.issue(subject).token,
    forged: (subject) => signed(subject).parts + signed(subject).signature,
    malformed: (subject) => signed(subject).parts,
  }
}
