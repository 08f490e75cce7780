import type { Request } from 'express'
import type { Account } from '../accounts/account.js'
import { emitter } from '../events/emitter.js'
import { hostSchema } from '../http/host-options.js'
import { func } from '../options/checks.js'
import { misuse, type Subject } from '../options/misuse.js'
import { type Checked, named, optional } from '../options/read-options.js'
import { type Login, loginWith } from './create-login.js'
import { credentialsSchema } from './credentials-options.js'
import { loginPortOf } from './host-login.js'
import { type LoginOptions, loginAliases, loginSchema, settingsOf } from './login-options.js'

/** The login of a route: the options of `createLogin`, or its result. */
export interface LoginChoice<A extends Account = Account, R = Request>
  extends Partial<Omit<LoginOptions<A, R>, 'accounts' | 'clock'>> {
  /** Finds an account by its e-mail address: a function, or a store. Default: the accounts of `logIn`. */
  accounts?: LoginOptions<A>['accounts'] | undefined
  /**
   * Authenticates the credentials: the result of `createLogin`, or a function around it. Pass either `logIn`, or `accounts`, `passwords`
   * and `limits`. Default: a login with these options.
   */
  logIn?: Login | undefined
}

export const choiceSchema = {
  ...credentialsSchema,
  timeout: hostSchema.timeout,
  onEvent: hostSchema.onEvent,
  refuse: hostSchema.refuse,
  accounts: (value: unknown) => value,
  passwords: loginSchema.passwords,
  limits: loginSchema.limits,
  extraFields: loginSchema.extraFields,
  tenant: loginSchema.tenant,
  beforeSignIn: loginSchema.beforeSignIn,
  emailInEvents: loginSchema.emailInEvents,
  logIn: optional(func<Login>('a function, as createLogin() returns')),
}

export const choiceAliases = {
  bodyLimit: 'limit',
  ...loginAliases,
  'Pass "credentials": ({ username, password }) => ({ email: username, password })':
    'fields usernameField passwordField',
}

/** Returns the login of the options, and the reporter of their events. A login and its route share an observer that one of them has. */
export function loginIn(
  caller: Subject,
  read: Checked<typeof choiceSchema>,
  clock: () => number,
  needsAccounts: boolean,
) {
  const { logIn } = read
  const names = ['accounts', 'passwords', 'limits', 'tenant', 'beforeSignIn'] as const
  const misplaced = logIn && names.slice(Number(needsAccounts)).find((name) => read[name] !== undefined)
  if (misplaced)
    throw misuse(`${caller}: option "${misplaced}" has no effect next to "logIn". Pass it to createLogin()`)
  const createOwn = () => {
    const accounts = named(`${caller}: option "accounts"`, loginSchema.accounts, read.accounts)
    return loginWith(settingsOf({ ...read, accounts, clock }))
  }
  const login = loginPortOf(logIn ?? createOwn(), read.timeout)
  const observer = read.onEvent ?? login.onEvent
  const emit = emitter(observer)
  return { login, emit }
}
