import type { AccountLookup, AccountStore } from '../accounts/account.js'
import { type CustomPasswords, type PasswordsPort, passwordsOf } from '../accounts/passwords/host-passwords.js'
import { createPasswords } from '../accounts/passwords/passwords.js'
import { type CustomThrottle, NO_LIMITS, type ThrottlePort, throttleOf } from '../accounts/throttle/host-throttle.js'
import type { Throttle } from '../accounts/throttle/throttle.js'
import { bool, type Clock, clockOption, withMethods } from '../options/checks.js'
import { aliasesOf, type Check, type Checked, InvalidOption, optional, readOptions } from '../options/read-options.js'
import { methodHint } from '../options/suggest.js'
import { isPlainObject, own } from '../options/values.js'
import { type HostOptions, hostSchema } from '../waiting/host-options.js'
import { defaultThrottle } from './default-throttle.js'

/** The options of `createLogin`. */
export interface LoginOptions extends Pick<HostOptions, 'timeout' | 'onEvent'> {
  /** Finds an account by its e-mail address: a function, or a store. */
  accounts: AccountLookup | AccountStore
  /** Checks passwords. Default: `createPasswords()`. */
  passwords?: CustomPasswords | undefined
  /** The failed-login limits. Default: `createThrottle()`, in this process's memory. `false` turns them off. */
  throttle?: Throttle | CustomThrottle | false | undefined
  /** Adds the e-mail address, as the client sent it, to the events of logins. It is personal data. Default false. */
  emailInEvents?: boolean | undefined
  /** The current time, for tests. Default: `Date.now`. */
  clock?: Clock | undefined
}

const STORE = 'a function (email) => account, or a store with "findByEmail"'
const storeObject = withMethods<AccountStore>(STORE, ['findByEmail'], (value) =>
  methodHint(value, 'findByEmail', ['findById']),
)
const accountsOption: Check<AccountStore> = (value) =>
  typeof value === 'function' ? { findByEmail: value as AccountLookup } : storeObject(value)

const PASSWORDS = ['what createPasswords() returned', 'Pass hashers to createPasswords({ hashers: [...] })'] as const
const passwordsObject = withMethods<CustomPasswords>(PASSWORDS[0], ['verify', 'hash'], () => PASSWORDS[1])
const passwordsOption: Check<PasswordsPort> = (value) => {
  const passwords = passwordsObject(value)
  if ('accepts' in passwords) throw new InvalidOption(...PASSWORDS)
  return passwordsOf(passwords)
}

const throttleObject = withMethods<CustomThrottle>('what createThrottle() returned, or false', ['consume'], (value) =>
  isPlainObject(value) && 'spend' in value
    ? 'Rename "spend" to "consume"'
    : 'Pass the object to createThrottle() first',
)
const throttleOption: Check<ThrottlePort> = (value) => (value === false ? NO_LIMITS : throttleOf(throttleObject(value)))

export const loginSchema = {
  accounts: accountsOption,
  passwords: optional(passwordsOption),
  throttle: optional(throttleOption),
  timeout: hostSchema.timeout,
  onEvent: hostSchema.onEvent,
  emailInEvents: optional(bool, false),
  clock: clockOption,
}

export const loginAliases = {
  accounts: 'account findAccount findByEmail store users',
  passwords: 'hashers',
  throttle: 'limiter rateLimit',
}

export function readLoginOptions(options: LoginOptions): LoginSettings {
  const aliases = aliasesOf(loginAliases)
  return settingsOf(readOptions<LoginOptions, typeof loginSchema>('createLogin', options, loginSchema, aliases))
}

interface ReadOptions extends Omit<Checked<typeof loginSchema>, 'clock'> {
  clock: Clock
  tokens?: object
}

const ownersOf = ({ accounts, tokens }: ReadOptions) => [accounts, own(accounts, 'findByEmail'), tokens]

/** Creates the defaults, which cost memory. */
export function settingsOf(read: ReadOptions) {
  const { passwords = createPasswords(), throttle = defaultThrottle(ownersOf(read)) } = read
  return { ...read, passwords, throttle }
}

export type LoginSettings = ReturnType<typeof settingsOf>
