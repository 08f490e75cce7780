import { brandOf } from '../options/brand.js'
import { newSession, type SessionStore } from './session.js'

/** The unused tickets of an app. */
interface TicketUses {
  /** @throws AuthError `unavailable` when the store fails */
  add(id: string, accountId: string, expiresAt: Date): Promise<void>
  /** Returns true once. Of two calls at once, one gets true. */
  take(id: string, accountId: string): Promise<boolean>
}

/** Tickets are not among the sessions of an account, because no user would know them. */
const ownerOf = (accountId: string) => `ticket of ${accountId}`

/**
 * Keeps unused tickets in the store of the sessions.
 * @param call calls the store within its time limit
 */
export function createTicketUses(
  store: SessionStore,
  now: () => number,
  call: <T>(run: () => Promise<T>) => Promise<T>,
): TicketUses {
  return {
    async add(id, account, expiresAt) {
      const session = newSession({ id, accountId: ownerOf(account), expiresAt }, now())
      await call(async () => store.add(session))
    },
    take: (id, account) => call(async () => (await store.remove(id, ownerOf(account))) === true),
  }
}

/** Returns the tickets of sessions of this package. A copy of the sessions has none. */
export const ticketUsesOf = (sessions: object) =>
  (brandOf('Sessions', sessions) as { tickets: TicketUses } | undefined)?.tickets
