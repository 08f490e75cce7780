import { isDeepStrictEqual } from 'node:util'
import type { Account } from '../../accounts/account.js'

/** The members that both look-ups must return alike. */
export const MEMBERS = ['id', 'passwordHash', 'disabled', 'scopes', 'claims', 'tokensValidAfter'] as const

/** Returns the names of the members that differ. */
export function differing(one: Partial<Account>, other: Account, members: readonly (keyof Account)[]): string {
  return members.filter((member) => !isDeepStrictEqual(contentOf(one, member), contentOf(other, member))).join(', ')
}

const EMPTY: Partial<Account> = { disabled: false, scopes: [], claims: {} }

/** Returns a member for comparison. An absent member equals an empty one, and the order of scopes is ignored. */
function contentOf(account: Partial<Account>, member: keyof Account): unknown {
  const value = account[member] ?? EMPTY[member] ?? null
  return Array.isArray(value) ? [...value].sort() : value
}
