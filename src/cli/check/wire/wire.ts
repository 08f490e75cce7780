import { bare } from '../../../options/values.js'
import { type Mapping, mappingIn } from './read-mapping.js'

/** The wire format of this package, as a mapping. The specification names the path. */
export const OWN = mappingIn(
  {
    login: { path: '/api/v2013/authentication/token' },
    token: { body: 'authenticationToken' },
    expiration: { body: 'expiration', form: 'iso' },
    statuses: { wrongPassword: 403 },
    jwks: '/.well-known/jwks.json',
  },
  {},
)

/** The wire format of a password-to-token API. */
export type Wire = Mapping['wire']

/** Names of the kinds of response: a token, two refusals of the login, and two of a guard. */
export type StatusName = keyof Wire['statuses']

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
export const orOf = (statuses: readonly number[]): string => statuses.join(' or ')

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
  const names: Record<string, string> = { user: login.user, password: login.password }
  const given = Object.entries(members).map(([member, value]): [string, unknown] => [names[member] ?? member, value])
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
