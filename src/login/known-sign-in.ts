import type { Account, FoundAccount } from '../accounts/account.js'
import { type Duration, isScopeList, isTextList, tokenAge } from '../options/checks.js'
import { misuse } from '../options/misuse.js'
import { bare, isPlainObject, isValidDate, own, parseJson, resultOrUndefined } from '../options/values.js'
import { unchanged } from '../sessions/session.js'
import type { TokenSubject } from '../tokens/jwt/issue-token.js'
import type { SignInTerms } from './before-sign-in.js'
import type { RecheckAccount } from './recheck-account.js'

/** A sign-in whose account is known. */
export interface KnownSignIn {
  /** The host's own object of the account, without its password hash. */
  user: object
  /** The subject of the token. */
  subject: TokenSubject
  /** The subject of the account as it was looked up. The one of the token may have other scopes, claims or another lifetime. */
  ofAccount: AccountSubject
  /** The terms that `beforeSignIn` returned. Default: none. */
  terms?: SignInTerms | undefined
  recheckAccount: RecheckAccount
}

/** The sign-ins of the subjects that the host's code has received. */
const signIns = new WeakMap<object, KnownSignIn>()

/** The facts of a sign-in. */
interface SignInFacts extends Pick<KnownSignIn, 'terms' | 'recheckAccount'> {
  /** The time just before its account was looked up. */
  lookedUpAt: Date
  /** The authentication methods (RFC 8176). */
  amr: readonly string[]
  /** The second check of the factor of the account. Default: none. */
  recheckFactor?: (() => Promise<void>) | undefined
  /** The time of the sign-in, where it is before the look-up. */
  signedInAt?: Date | undefined
}

/** Returns the sign-in of an account. */
export function knownSignIn(
  { account, user }: FoundAccount,
  { lookedUpAt, recheckAccount: recheck, recheckFactor, terms, amr, signedInAt }: SignInFacts,
): KnownSignIn {
  const ofAccount = subjectOf(account, lookedUpAt)
  const ofSignIn = { ...ofAccount, amr, ...(signedInAt && { signedInAt }) }
  async function recheckAccount() {
    await recheckFactor?.()
    return recheck()
  }
  const signIn = { user, subject: withTerms(ofSignIn, terms), ofAccount, terms, recheckAccount }
  signIns.set(signIn.subject, signIn)
  return signIn
}

/** Returns the sign-in whose subject the host passes, or undefined for any other value. */
export const knownSignInOf = (subject: unknown) => signIns.get(subject as object)

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
  /** The authentication methods of the sign-in, which may be none. Absent in a session of an earlier release. */
  amr?: readonly string[]
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
  const amr = own(subject, 'amr')
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
    ...(amr && { amr }),
  }
  if (Object.keys(facts).length === 0) return undefined
  const text = Buffer.from(JSON.stringify(facts)).toString('base64url')
  if (text.length > LONGEST_TERMS) {
    throw misuse('beforeSignIn: the claims and scopes of a sign-in with refresh must be shorter than 1,500 characters')
  }
  return text
}

/** A token without a term of its sign-in would be wider, so each member must be as `keptTerms` has written it. */
const KEPT: Readonly<Record<keyof KeptTerms, (value: unknown) => boolean>> = bare({
  scopes: isScopeList,
  claims: isPlainObject,
  without: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  lifetime: (value) => resultOrUndefined(() => tokenAge(value)) !== undefined,
  signedInAt: (value) => typeof value === 'number' && isValidDate(new Date(value)),
  amr: isTextList,
})

function readKeptTerms(text: string): KeptTerms {
  const kept = parseJson(Buffer.from(text, 'base64url').toString())
  const isKept = ([name, value]: [string, unknown]) => KEPT[name as keyof KeptTerms]?.(value) === true
  if (!isPlainObject(kept) || !Object.entries(kept).every(isKept)) throw unchanged('terms')
  return bare(kept)
}

/**
 * Returns the subject of a refresh with the terms of its sign-in.
 * @param text the terms of the session, or of a refresh token of an earlier release whose signature is valid
 * @throws TypeError for a text that `keptTerms` has not written. The store is wrong, not the client
 */
export function withKeptTerms(subject: AccountSubject, text: string | undefined): TokenSubject {
  if (text === undefined) return subject
  const kept = readKeptTerms(text)
  const { scopes, without, lifetime, signedInAt, amr } = kept
  const claims = Object.entries(subject.claims).filter(([name]) => !without?.includes(name))
  return {
    ...subject,
    scopes: subject.scopes.filter((scope) => !scopes || scopes.includes(scope)),
    claims: { ...Object.fromEntries(claims), ...kept.claims },
    lifetime: shorter(subject.lifetime, lifetime),
    ...(signedInAt !== undefined && { signedInAt: new Date(signedInAt) }),
    ...(amr && { amr }),
  }
}
