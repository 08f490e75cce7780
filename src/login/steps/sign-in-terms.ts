import type { Account } from '../../accounts/account.js'
import { type Duration, isScopeList, tokenAge } from '../../options/checks.js'
import { misuse } from '../../options/misuse.js'
import { describe, named } from '../../options/read-options.js'
import { bare, isPlainObject, memberOf, own } from '../../options/values.js'
import type { TokenSubject } from '../../tokens/jwt/issue-token.js'

/** The terms of one sign-in, which `beforeSignIn` returns. They hold for all its tokens, also after a refresh. */
export interface SignInTerms {
  /** The lifetime of each token, from 1 s. A longer one than the account's or the issuer's has no effect. Default: the account's. */
  lifetime?: Duration | undefined
  /** Private claims, in addition to those of the account. Default none. */
  claims?: Readonly<Record<string, unknown>> | undefined
  /** The scopes of the tokens: some of the account's. Default: all of the account's. */
  scopes?: readonly string[] | undefined
}

const MEMBERS = ['lifetime', 'claims', 'scopes']

/**
 * Reads what `beforeSignIn` returned.
 * @throws TypeError that names the mistake
 */
export function readTerms(returned: unknown, account: Account): SignInTerms | undefined {
  if (returned === undefined || returned === null) return undefined
  const wrong = isPlainObject(returned) ? unknownIn(returned) : describe(returned)
  if (wrong) {
    throw misuse(
      `beforeSignIn: must return nothing, or { lifetime, claims, scopes }, but returned ${wrong}. To refuse the sign-in, throw new SignInRefusal('code')`,
    )
  }
  const { lifetime, claims, scopes }: SignInTerms = Object.fromEntries(
    MEMBERS.map((name) => [name, memberOf(returned, name)]),
  )
  if (lifetime !== undefined) named('beforeSignIn: "lifetime"', tokenAge, lifetime)
  if (claims !== undefined && !isPlainObject(claims)) throw misuse('beforeSignIn: "claims" must be an object')
  if (scopes !== undefined && !isScopeList(scopes)) throw misuse('beforeSignIn: "scopes" must be an array of scopes')
  if (scopes?.some((scope) => !account.scopes?.includes(scope))) {
    throw misuse('beforeSignIn: "scopes" has a scope that the account does not have. Add it to the account')
  }
  return { lifetime, claims, scopes }
}

function unknownIn(returned: object): string | undefined {
  const unknown = Object.keys(returned).find((name) => !MEMBERS.includes(name))
  return unknown === undefined ? undefined : `a member "${unknown}"`
}

/** Returns the subject of a sign-in with its terms. */
export function withTerms(subject: TokenSubject, terms: SignInTerms | undefined): TokenSubject {
  if (!terms) return subject
  const { lifetime, claims, scopes } = terms
  return {
    ...subject,
    scopes: scopes ?? subject.scopes,
    claims: { ...subject.claims, ...claims },
    lifetime: shorter(subject.lifetime, lifetime),
  }
}

function shorter(one: Duration | null | undefined, other: Duration | null | undefined): TokenSubject['lifetime'] {
  if (one == null || other == null) return one ?? other
  return tokenAge(one) <= tokenAge(other) ? one : other
}

/** The whole subject of an account. */
export interface AccountSubject extends TokenSubject {
  scopes: readonly string[]
  claims: Readonly<Record<string, unknown>>
  issuedAt: Date
}

/** Returns the whole subject of an account: a token without a part of it would last longer, or outlive a password change. */
export function subjectOf({ id: accountId, scopes, claims, lifetime }: Account, issuedAt: Date): AccountSubject {
  return { accountId, scopes: scopes ?? [], claims: claims ?? {}, lifetime, issuedAt }
}

/** The difference between the token of a sign-in and its account, in the session. */
interface KeptTerms {
  scopes?: readonly string[]
  claims?: Readonly<Record<string, unknown>>
  /** The claims of the account that the token does not have. */
  without?: readonly string[]
  lifetime?: TokenSubject['lifetime']
  /** The time of a sign-in before its session, in milliseconds. */
  signedInAt?: number
}

/** Returns a claim as a token has it. Undefined for one that no token has. */
const written = (claims: object, name: string): string | undefined => JSON.stringify(own(claims, name as never))

/** The longest text of kept terms, as the column of a store must hold it. */
const LONGEST_TERMS = 2048

/**
 * Returns the terms of a sign-in as a text for its session: what `beforeSignIn` has decided, and what else differs from the account.
 * So a narrowed token stays narrow, also when the account gets more.
 * @param subject the subject of the token
 * @param base the subject of the account itself
 * @param terms the terms that `beforeSignIn` returned
 * @throws TypeError when they are too long
 */
export function keptTerms(
  subject: TokenSubject,
  base: AccountSubject,
  terms: SignInTerms | undefined,
): string | undefined {
  const { lifetime } = subject
  const signedInAt = own(subject, 'signedInAt')
  const [scopes, all] = [subject.scopes ?? [], base.scopes]
  const [claims, ofAccount] = [subject.claims ?? {}, base.claims]
  const isDecided = (name: string) => Object.hasOwn(Object(terms?.claims), name)
  const kept = Object.keys({ ...ofAccount, ...claims }).filter(
    (name) => isDecided(name) || written(claims, name) !== written(ofAccount, name),
  )
  const added = kept.filter((name) => written(claims, name) !== undefined)
  const without = kept.filter((name) => !added.includes(name))
  const isNarrow = terms?.scopes || scopes.length !== all.length || !all.every((scope) => scopes.includes(scope))
  const isShort = terms?.lifetime !== undefined || lifetime !== base.lifetime
  const facts: KeptTerms = {
    ...(isNarrow && { scopes }),
    ...(added.length > 0 && { claims: Object.fromEntries(added.map((name) => [name, claims[name]])) }),
    ...(without.length > 0 && { without }),
    ...(lifetime != null && isShort && { lifetime }),
    ...(signedInAt && { signedInAt: signedInAt.getTime() }),
  }
  if (Object.keys(facts).length === 0) return undefined
  const text = Buffer.from(JSON.stringify(facts)).toString('base64url')
  if (text.length > LONGEST_TERMS) {
    throw misuse('beforeSignIn: the claims and scopes of a sign-in with refresh must be shorter than 1,500 characters')
  }
  return text
}

/**
 * Returns the subject of a refresh with the terms of its sign-in.
 * @param text the terms of the session, or of a refresh token of an earlier release whose signature is valid
 */
export function withKeptTerms(subject: AccountSubject, text: string | undefined): TokenSubject {
  if (text === undefined) return subject
  const kept: KeptTerms = bare(JSON.parse(Buffer.from(text, 'base64url').toString()))
  const { scopes, without, lifetime, signedInAt } = kept
  const claims = Object.entries(subject.claims).filter(([name]) => !without?.includes(name))
  return {
    ...subject,
    scopes: subject.scopes.filter((scope) => !scopes || scopes.includes(scope)),
    claims: { ...Object.fromEntries(claims), ...kept.claims },
    lifetime: shorter(subject.lifetime, lifetime),
    ...(signedInAt !== undefined && { signedInAt: new Date(signedInAt) }),
  }
}
