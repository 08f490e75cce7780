import type { Account } from '../accounts/account.js'
import type { FactorAddedEvent } from '../events/events.js'
import type { Call } from '../http/endpoint.js'
import { withoutChange } from '../sessions/sessions.js'
import type { VerifiedToken } from '../tokens/verified-token.js'
import { type AccountCall, type AccountParts, notify } from './account-parts.js'

/** A change of the factors of an account. */
interface FactorsChange {
  account: Account
  type: 'factor.added' | 'factor.removed'
  kind: FactorAddedEvent['factor']
  /** The further details of the notice. */
  details?: Readonly<Record<string, unknown>>
}

type GuardedCall = Pick<Call, 'origin' | 'report'> & { readonly auth: VerifiedToken }

/** Ends the other sessions and tells the owner, after a change of the factors. */
export async function factorsChanged(
  parts: Pick<AccountParts, 'sessions' | 'mailer'>,
  { auth, origin, report }: GuardedCall,
  of: AccountCall,
  { account, type, kind, details }: FactorsChange,
): Promise<void> {
  report({ type, accountId: account.id, factor: kind })
  const change = { [type === 'factor.added' ? 'added' : 'removed']: kind }
  notify(parts, of, { kind: 'factors-changed', account, details: { ...change, ...details } })
  await parts.sessions?.endOthers(withoutChange(auth), origin.address)
}
