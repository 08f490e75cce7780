/** A list of the statuses that a kind of response may have. */
export type Statuses = readonly number[]

/** What a response says: a token for credentials, three kinds of refusal at the login and the guard. */
export type StatusName = 'success' | 'wrongPassword' | 'malformed' | 'missingToken' | 'refusedToken'

/** A part of a login response. `name` is a dotted path in the body, a header or a cookie. */
export interface Location {
  in: 'body' | 'header' | 'cookie'
  name: string
}

/** Forms of an expiration. `seconds` and `milliseconds` count from the response, the epochs from 1970. */
export const EXPIRATION_FORMS = ['iso', 'seconds', 'milliseconds', 'epoch', 'epoch-milliseconds'] as const
export type ExpirationForm = (typeof EXPIRATION_FORMS)[number]

/** The wire format of a password-to-token API. */
export interface Wire {
  /** True for the wire format of this package. Other formats skip the rows that only this package promises. */
  own: boolean
  login: {
    path: string
    method: string
    type: 'json' | 'form'
    /** Names of members or fields. In JSON, a dot separates the names of nested members. */
    user: string
    password: string
    /** Further members or fields of each login. */
    fields: Readonly<Record<string, unknown>>
    /** Further headers of each login. */
    headers: Readonly<Record<string, string>>
  }
  token: Location
  expiration: { at: Location; form: ExpirationForm } | undefined
  statuses: Readonly<Record<StatusName, Statuses>>
  /** The request header that carries the token, and the scheme before the token. No scheme: the token is the whole value. */
  credential: { header: string; scheme: string } | { cookie: string }
}

/** The wire format of this package. */
export const OWN_WIRE: Wire = {
  own: true,
  login: {
    // The path that the specification names.
    path: '/api/v2013/authentication/token',
    method: 'POST',
    type: 'json',
    user: 'email',
    password: 'password',
    fields: {},
    headers: {},
  },
  token: { in: 'body', name: 'authenticationToken' },
  expiration: { at: { in: 'body', name: 'expiration' }, form: 'iso' },
  statuses: { success: [200], wrongPassword: [403], malformed: [400], missingToken: [401], refusedToken: [401] },
  credential: { header: 'Authorization', scheme: 'Bearer' },
}

/** Returns the header that carries a token. */
export function headerWith({ credential }: Wire, token: string): Record<string, string> {
  if ('cookie' in credential) return { Cookie: `${credential.cookie}=${token}` }
  return { [credential.header]: credential.scheme ? `${credential.scheme} ${token}` : token }
}

/** Returns the scheme, when the token goes into the `Authorization` header after one. Only then RFC 9110 section 11 applies. */
export function schemeOf({ credential }: Wire): string | undefined {
  if ('cookie' in credential || credential.header.toLowerCase() !== 'authorization') return undefined
  return credential.scheme || undefined
}

/** Returns statuses as text: `400 or 422`. */
export const orOf = (statuses: Statuses): string => statuses.join(' or ')
