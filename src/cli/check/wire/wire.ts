import { bare } from '../../../options/values.js'

/** A list of the statuses that a kind of response may have. */
export type Statuses = readonly number[]

/** Names of the kinds of response: a token, two refusals of the login, and two of a guard. */
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

const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The credentials of one login, and a member that the API does not know. An absent member is not sent. */
export interface LoginMembers {
  user?: unknown
  password?: unknown
  realm?: string
}

/** Returns a login as a request. */
export function loginRequest({ login }: Wire, members: LoginMembers, type = login.type) {
  const names = { user: login.user, password: login.password, realm: 'realm' }
  const given = Object.entries(members).map(([member, value]): [string, unknown] => [
    names[member as keyof LoginMembers],
    value,
  ])
  const named = [...Object.entries(login.fields), ...given]
  const [contentType, body] = type === 'form' ? [FORM_TYPE, formOf(named)] : [JSON_TYPE, jsonOf(named)]
  return { method: login.method, headers: { 'Content-Type': contentType, ...login.headers }, body }
}

function formOf(fields: readonly [string, unknown][]): string {
  return new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)])).toString()
}

function jsonOf(members: readonly [string, unknown][]): string {
  const object: Record<string, unknown> = bare({})
  for (const [name, value] of members) setAt(object, name.split('.'), value)
  return JSON.stringify(object)
}

/** Sets a member by its path. No object inherits anything, so `__proto__` is a name like any other. */
function setAt(object: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let inner = object
  for (const name of path.slice(0, -1)) {
    inner[name] ??= bare({})
    inner = inner[name] as Record<string, unknown>
  }
  inner[path.at(-1) as string] = value
}
