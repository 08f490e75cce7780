import { hostAliases } from '../http/host-options.js'
import type { CredentialsOptions } from '../login/credentials-options.js'
import { choiceAliases, choiceSchema, type LoginChoice, loginIn } from '../login/login-choice.js'
import { aliasesOf, readOptions } from '../options/read-options.js'

/** The options of `LoginStrategy`. Exactly one of `accounts` and `logIn` is required. */
export interface LoginStrategyOptions extends CredentialsOptions, LoginChoice {}

export function readLoginStrategyOptions(options: LoginStrategyOptions) {
  const caller = 'LoginStrategy'
  const aliases = aliasesOf({ ...hostAliases, ...choiceAliases })
  const read = readOptions<LoginStrategyOptions, typeof choiceSchema>(caller, options, choiceSchema, aliases)
  return { ...read, ...loginIn(caller, read, Date.now, false) }
}
