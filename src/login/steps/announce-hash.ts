import type { HashChange } from '../../sessions/refresh/password-tags.js'
import type { RefreshSteps } from '../../sessions/refresh/refresh-steps.js'

/** The sessions of each account store, because several apps and logins may share the accounts. */
const sessionsOf = new WeakMap<object, Set<RefreshSteps>>()

/** Notes that sessions can be refreshed whose accounts are those of a store. */
export function noteSessionsOf(accounts: object, refreshSteps: RefreshSteps): void {
  const known = sessionsOf.get(accounts)
  if (known) known.add(refreshSteps)
  else sessionsOf.set(accounts, new Set([refreshSteps]))
}

/**
 * Announces a better hash of the same password to all sessions of the account store.
 * @throws AuthError `unavailable` or `overloaded`. Then the hash must not be stored
 */
export async function announceHash(accounts: object, change: HashChange): Promise<void> {
  await Promise.all([...(sessionsOf.get(accounts) ?? [])].map((refreshSteps) => refreshSteps.announceHash(change)))
}
