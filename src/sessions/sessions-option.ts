import { brandOf } from '../options/brand.js'
import { withMethods } from '../options/checks.js'
import { misuse, PAGE } from '../options/misuse.js'
import { isPlainObject } from '../options/values.js'
import type { Sessions } from './sessions.js'

/** The option `sessions`: what `createSessions` returned. */
export const sessionsOption = withMethods<Sessions>(
  'what createSessions() returned',
  ['start', 'isEnded', 'list', 'end', 'endOthers'],
  (value) => (isPlainObject(value) && 'touch' in value ? 'Pass the store to createSessions() first' : ''),
)

/**
 * Refuses sessions for tokens of an issuer that the host has not named as its own, because it could name a session of the host. By default,
 * the first guard or router names it.
 */
export function assertOwnIssuers(caller: string, { issuers, isEnded }: Sessions, accepted: readonly string[]): void {
  const given = issuers ?? accepted.slice(0, 1)
  const name = brandOf('Sessions', isEnded) as ((issuers: readonly string[]) => readonly string[]) | undefined
  const own = name?.(given) ?? given
  const foreign = accepted.find((issuer) => !own.includes(issuer))
  if (foreign === undefined) return
  throw misuse(
    `${caller}: "sessions" are not for the tokens of "${foreign}", which could name a session of yours. If this issuer is your own, pass all issuers of your app as createSessions(store, { issuers })`,
    PAGE.sessions,
  )
}
