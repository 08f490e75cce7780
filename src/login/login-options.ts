import type { Request } from 'express'
import type {
  Account,
  AccountLookup,
  AccountStore,
  AccountStoreOption,
  LookUpResult,
  UserOf,
} from '../accounts/account.js'
import { emitter } from '../events/emitter.js'
import { warnOnce } from '../events/warnings.js'
import { type HostOptions, hostSchema } from '../http/host-options.js'
import { type LimitsPort, NO_LIMITS } from '../limits/attempt.js'
import { createLimits, type Limits } from '../limits/limits.js'
import { bool, func, withMethods } from '../options/checks.js'
import { type Check, type Checked, describeList, InvalidOption, optional } from '../options/read-options.js'
import { methodHint } from '../options/suggest.js'
import { isPlainObject, memberOf, own } from '../options/values.js'
import { createPasswords, type Passwords, type QueuedPasswords } from '../passwords/passwords.js'
import type { BeforeSignIn, BeforeSignInTask } from './before-sign-in.js'
import { type CredentialsOptions, credentialsSchema } from './credentials-options.js'
import type { SecondFactorStep } from './second-factor.js'
import type { TenantOf } from './steps.js'

/** The options of a login: those that `tokenRouter`, `createAuth` and `LoginStrategy` have in common. */
export interface LoginOptions<A extends LookUpResult = Account>
  extends Pick<HostOptions, 'timeout' | 'onEvent' | 'refuse'>,
    CredentialsOptions {
  /**
   * Function `(email) => account`, or an [account
   * store](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/accounts.md).
   */
  accounts: AccountLookup<A> | AccountStoreOption<A>
  /** Names of additional body members, which `beforeSignIn` and `findByEmail` receive without validation. Default: `[]`. */
  extraFields?: readonly string[] | undefined
  /**
   * Function `({ req, fields }) => string` that identifies the
   * [tenant](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/accounts.md#tell-tenants-apart) for
   * limits, `findByEmail`, and events. Default: no tenants.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows its requests.
  tenant?: TenantOf<any> | undefined
  /**
   * Function `({ account, method, amr, fields, req, signal })` that [accepts or
   * refuses](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/sign-in-steps.md) each sign-in.
   * Default: none.
   */
  beforeSignIn?: BeforeSignIn<UserOf<A>, Request> | undefined
  /**
   * Return value of
   * [`createPasswords`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createpasswordsoptions).
   * Default: `createPasswords()`.
   */
  passwords?: Passwords | undefined
  /**
   * [Failed-login
   * limits](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/reference/options.md#createlimitsoptions), or
   * `false` to disable them. Create only one object per process. Default: `createLimits()`.
   */
  limits?: Limits | false | undefined
  /** `true` adds the email address, which is personal data, to login events. Default: `false`. */
  emailInEvents?: boolean | undefined
}

const STORE = 'a function (email) => account, or a store with "findByEmail"'
const storeObject = withMethods<AccountStore>(STORE, ['findByEmail'], (value) =>
  methodHint(value, 'findByEmail', ['findById']),
)
const accountsOption: Check<AccountStore> = (value) =>
  typeof value === 'function' ? { findByEmail: value as AccountLookup } : storeObject(value)

const PASSWORDS = 'what createPasswords() returned'
const passwordsOption = withMethods<QueuedPasswords>(
  PASSWORDS,
  ['verify', 'hash', 'needsRehash', 'reserve'],
  () => 'Pass hashers to createPasswords({ hashers: [...] })',
)

const limitsObject = withMethods<LimitsPort>(
  'what createLimits() returned, or false',
  ['checkAddress', 'attempt'],
  (value) =>
    typeof memberOf(Object(value), 'consume') === 'function'
      ? 'Custom limits are no longer called. Pass a "limiter" to createLimits()'
      : 'Pass the object to createLimits() first',
)
const limitsOption: Check<LimitsPort> = (value) => (value === false ? NO_LIMITS : limitsObject(value))

/** The option `credentials` renames the members of the credentials. */
const extraFieldsOption: Check<readonly string[]> = (value) => {
  const isName = (name: unknown) => typeof name === 'string' && name !== ''
  if (!Array.isArray(value) || !value.every(isName)) {
    throw new InvalidOption("an array of member names, like ['code', 'device']", '', describeList(isName))
  }
  if (value.some((name) => name === 'password' || name === 'email')) {
    throw new InvalidOption('an array without "email" and "password"', 'To rename these members, pass "credentials"')
  }
  return Object.freeze([...value])
}

/** The step of the host, whose request may be Express's. */
type AskedStep = BeforeSignInTask['beforeSignIn']

export const loginSchema = {
  accounts: accountsOption,
  passwords: optional(passwordsOption),
  limits: optional(limitsOption),
  extraFields: optional(extraFieldsOption, [] as readonly string[]),
  tenant: optional(func<TenantOf>('a function ({ req, fields }) => text')),
  beforeSignIn: optional(
    func<NonNullable<AskedStep>>('a function ({ account, method, amr, fields, req, signal }) => …'),
  ) as Check<AskedStep>,
  timeout: hostSchema.timeout,
  onEvent: hostSchema.onEvent,
  refuse: hostSchema.refuse,
  emailInEvents: optional(bool, false),
  ...credentialsSchema,
}

export const loginAliases = {
  limits: 'throttle',
  tenant: 'limitKey',
  beforeSignIn: 'afterPassword',
  bodyLimit: 'limit',
  'Pass "credentials": ({ username, password }) => ({ email: username, password })':
    'fields usernameField passwordField',
}

/** The stores, functions and issuers of logins with default limits. */
const limited = new WeakSet<object>()

/**
 * Creates the default failed-login limits of a login. Warns when another login for the same accounts has its own.
 * @param owners the objects by which two logins for the same accounts are recognised
 */
function defaultLimits(owners: readonly unknown[]): Limits {
  for (const owner of owners) {
    if (!isPlainObject(owner) && typeof owner !== 'function') continue
    if (limited.has(owner)) warnOnce('secondLimits')
    limited.add(owner)
  }
  return createLimits()
}

type ReadOptions = Checked<typeof loginSchema>

/**
 * Returns the settings of a login, with its observer. Creates the defaults, which cost memory.
 * @param owner the issuer of the tokens. It recognises two logins for the same accounts, as the accounts do
 */
export function loginSettings(read: ReadOptions, clock: () => number, owner?: object) {
  const { accounts, onEvent } = read
  const owners = [accounts, own(accounts, 'findByEmail'), owner]
  const { passwords = createPasswords() as QueuedPasswords, limits = limitsObject(defaultLimits(owners)) } = read
  return { ...read, passwords, limits, clock, emit: emitter(onEvent) }
}

export type LoginSettings = ReturnType<typeof loginSettings> & {
  /** The step that asks for a second factor. Default: none. */
  secondFactor?: SecondFactorStep | undefined
}
