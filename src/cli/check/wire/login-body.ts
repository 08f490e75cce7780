import { bare } from '../../../options/values.js'
import type { Wire } from './wire.js'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The credentials of one login, and a member that the API does not know. An absent member is not sent. */
export interface LoginMembers {
  user?: unknown
  password?: unknown
  realm?: string
}

/** Returns the Content-Type and the body of a login. */
export function loginBody({ login }: Wire, members: LoginMembers, type = login.type): { type: string; body: string } {
  const names: Record<string, string> = { user: login.user, password: login.password, realm: 'realm' }
  const given = Object.entries(members).map(([member, value]) => [names[member] as string, value] as const)
  const named = [...Object.entries(login.fields), ...given]
  if (type === 'form') {
    const fields = named.map(([name, value]): [string, string] => [name, String(value)])
    return { type: FORM_TYPE, body: new URLSearchParams(fields).toString() }
  }
  const object: Record<string, unknown> = bare({})
  for (const [name, value] of named) setAt(object, name.split('.'), value)
  return { type: JSON_TYPE, body: JSON.stringify(object) }
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
