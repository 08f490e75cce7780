import { createHash } from 'node:crypto'
import { isScopeList } from '../../options/checks.js'
import { misuse, PAGE, type Subject } from '../../options/misuse.js'
import { bare, ignoreRejection, isPlainObject } from '../../options/values.js'
import { deepFreeze, type PrivateClaims, Verified } from '../verified-token.js'
import { anyCase, isText, privateClaims, readForeignTimes, type TokenForm, TYP } from './claims.js'

/** Returns the scopes of a token from its claims. */
export type ScopesOf = (claims: PrivateClaims) => readonly string[] | undefined

/** Returns the account of a token from its claims. */
export type AccountIdOf = (claims: PrivateClaims) => string | undefined

interface ProviderSettings {
  scopes: ScopesOf | undefined
  accountId: AccountIdOf | undefined
  authorizedParties: readonly string[] | undefined
}

type Claims = Record<string, unknown>

/** The types of access tokens (RFC 9068 section 4), and of a JWT of any kind (RFC 7519 section 5.1). */
const ACCESS_TOKEN: readonly string[] = [TYP, `application/${TYP}`]
export const ANY_JWT: readonly (string | undefined)[] = ['jwt', undefined]

/** The claims that name the client: RFC 9068, OpenID Connect, Okta, Entra ID v1. */
const CLIENT = ['client_id', 'azp', 'cid', 'appid']

/** Claims that only ID tokens have (OpenID Connect Core 1.0 sections 3.1.3.6 and 3.3.2.11), and security events (RFC 8417). */
const NOT_FOR_APIS = ['at_hash', 'c_hash', 's_hash', 'events']

/**
 * Claims about a sign-in and about the user that ID tokens have (OpenID Connect Core 1.0 sections 2 and 5.1, and `sid`). `tid` is the tenant of
 * Entra ID, whose access tokens always name a client. Not `name` and `email`, because tokens that are made from a row of users have them.
 */
const OF_ID_TOKENS = [
  ...['auth_time', 'acr', 'sid', 'tid'],
  ...['given_name', 'family_name', 'middle_name', 'nickname', 'preferred_username', 'profile', 'picture', 'website'],
  ...['email_verified', 'gender', 'birthdate', 'zoneinfo', 'locale', 'phone_number', 'phone_number_verified'],
  ...['address', 'updated_at'],
]

/** Claims about what the user may do, in tokens that name no client. Supabase has `role` and `session_id`. */
const OF_PERMISSIONS = ['role', 'roles', 'permissions', 'session_id']

/** Claims that only access tokens of Entra ID have. */
export const FOR_APIS = ['azpacr', 'appidacr']

/** Scopes that a client asks for to sign a user in (OpenID Connect Core 1.0 sections 3.1.2.1, 5.4 and 11). ID tokens of AD FS list them. */
export const OF_SIGN_IN = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access', 'allatclaims']

/** Issues no JWT as an access token, and its ID tokens may have another audience than their client. */
const GOOGLE = 'https://accounts.google.com'

/** Returns the client of a token: undefined when no claim names it, false when the claims disagree. */
export function clientIn(claims: Claims): string | undefined | false {
  const named = CLIENT.map((name) => claims[name]).filter((value) => value !== undefined)
  const [client] = named
  if (client === undefined) return undefined
  return isText(client) && named.every((value) => value === client) && client
}

/**
 * Returns the audiences of a token. An access token of Cognito has no `aud` without resource binding: its client is its audience.
 * @returns undefined when the claim is not valid
 */
function audiencesIn({ aud, token_use: use }: Claims, client: string | undefined): readonly string[] | undefined {
  if (aud === undefined && use === 'access' && client !== undefined) return [client]
  const list: unknown[] = Array.isArray(aud) ? aud : [aud]
  return list.length > 0 && list.every(isText) ? list : undefined
}

const isAccessTokenType = anyCase(ACCESS_TOKEN)

/**
 * Returns whether a token is an access token. An ID token of the same issuer has the same keys, and tells a client who has signed in. Its
 * audience is the client, so a token for another audience than its client is an access token. A token that names no client is one when it
 * has no claim that ID tokens have. Then the guard's audience must be a URI (RFC 8707 section 2), or the token says what the user may do.
 */
function isAccessToken(
  claims: Claims,
  typ: unknown,
  { client, audience, audiences }: { client: string | undefined; audience: string; audiences: readonly string[] },
): boolean {
  // `token_use` is a claim of Cognito, and `typ` among the claims is one of Keycloak.
  const { token_use: use = 'access', typ: kind = 'Bearer', nonce } = claims
  const has = (name: string) => (claims[name] ?? undefined) !== undefined
  if (use !== 'access' || kind !== 'Bearer' || NOT_FOR_APIS.some(has)) return false
  if (isAccessTokenType(typ) || has('token_use') || has('typ')) return true
  if (nonce !== undefined) return false
  const scopes = scopesIn(claims) ?? []
  if (FOR_APIS.some(has) || scopes.some((scope) => !OF_SIGN_IN.includes(scope))) return true
  if (claims['iss'] === GOOGLE) return false
  if (client !== undefined) return !audiences.includes(client)
  const isForApi = URL.canParse(audience) || OF_PERMISSIONS.some(has)
  return isForApi && scopes.length === 0 && !OF_ID_TOKENS.some((name) => claims[name] !== undefined)
}

/** Returns the scopes of a `scope` or `scp` claim: a list, or text with spaces between the scopes. Undefined when it is not valid. */
export function scopesIn({ scope, scp = [] }: Claims): string[] | undefined {
  const value = scope ?? scp
  const list: unknown = typeof value === 'string' ? value.split(' ').filter((name) => name !== '') : value
  return isScopeList(list) ? [...list] : undefined
}

export function readScopes(read: ScopesOf, claims: PrivateClaims, caller: Subject = 'createTokenVerifier'): string[] {
  const scopes: unknown = ignoreRejection(read(claims)) ?? []
  if (isScopeList(scopes)) return [...scopes]
  throw misuse(`${caller}: "scopes" must return an array of scope tokens (RFC 6749 section 3.3)`, PAGE.issuers)
}

function readAccountId(read: AccountIdOf, claims: PrivateClaims): string | undefined {
  const accountId: unknown = ignoreRejection(read(claims))
  if (accountId === undefined || isText(accountId)) return accountId
  throw misuse('createTokenVerifier: "accountId" must return a non-empty string, or undefined', PAGE.issuers)
}

export function providerForm(settings: ProviderSettings): TokenForm {
  const { scopes: scopesOf, accountId: accountIdOf, authorizedParties } = settings
  const parties = authorizedParties && new Set<unknown>(authorizedParties)
  return {
    isType: anyCase([...ACCESS_TOKEN, ...ANY_JWT]),
    unnamedKeys: 'only',
    readClaims(payload, expected, { typ, signed }) {
      if (!isPlainObject(payload)) return 'claims'
      const claims = bare(payload)
      const { iss, sub, jti, cnf } = claims
      const client = clientIn(claims)
      const audiences = audiencesIn(claims, client || undefined)
      const times = readForeignTimes(claims, expected)
      if (!isText(iss) || client === false || !audiences || times === 'claims') return 'claims'
      if (jti !== undefined && !isText(jti)) return 'claims'
      // A token that is bound to a key (RFC 8705, RFC 9449) must not pass without the proof that the client has the key.
      if (cnf !== undefined) return 'claims'
      const { issuer, audience } = expected
      if (iss !== issuer) return 'issuer'
      if (!audiences.includes(audience)) return 'audience'
      if (parties && !parties.has(client)) return 'audience'
      if (!isAccessToken(claims, typ, { client, audience, audiences })) return 'id_token'
      if (typeof times === 'string') return times
      const { iat, exp, notBefore, notAfter } = times
      if (scopesOf || accountIdOf) deepFreeze(payload)
      const accountId = accountIdOf ? readAccountId(accountIdOf, payload) : sub
      const scopes = scopesOf ? readScopes(scopesOf, payload) : scopesIn(claims)
      if (!isText(accountId) || !scopes) return 'claims'
      // Not of the whole text, because a token may have several valid signatures.
      const id = jti ?? createHash('sha256').update(signed).digest('base64url')
      const members = { id, accountId, issuer, audience, clientId: client, scopes, kind: 'provider' as const }
      const token = new Verified({ ...members, iat, exp, claims: deepFreeze(privateClaims(payload)) })
      return { token, notBefore, notAfter }
    },
  }
}
