import type { AccountStore, FoundAccount } from '../../accounts/account.js'
import type { Dependency } from '../../errors/codes.js'
import type { Attempt, LimitsPort } from '../../limits/attempt.js'
import type { PasswordsSlot, QueuedPasswords } from '../../passwords/passwords.js'
import type { Credentials } from '../body/credentials.js'
import type { BeforeSignInTask } from './before-sign-in.js'

/** The dependencies of all logins. */
export interface LoginDependencies {
  accounts: AccountStore
  passwords: QueuedPasswords
  limits: LimitsPort
  /** The time limit for the wait in the queue, for the look-up and for the password check, each in milliseconds. */
  timeout: number
  clock: () => number | Date
}

/** One login: its dependencies, its credentials and its origin. */
export interface LoginTask extends LoginDependencies, Credentials, BeforeSignInTask {
  tenant: string | undefined
  /** Called when a new hash could not be made or stored, and when the limits continue without their shared store. */
  dependencyFailed(dependency: Dependency, error: unknown): void
}

/** A login that has a queue slot, and whose account was looked up. */
export interface CheckedTask extends LoginTask {
  attempt: Attempt
  slot: PasswordsSlot
  found: FoundAccount | undefined
  /** The account of an event about a failure. */
  about: { accountId: string } | undefined
}
