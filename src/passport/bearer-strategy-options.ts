import { guardAliases, guardSchema, type RequireBearerOptions } from '../guard/require-bearer-options.js'
import { misuse, PAGE } from '../options/misuse.js'

/** The options of `BearerStrategy`: those of `requireBearer`. */
// biome-ignore lint/suspicious/noExplicitAny: the host knows the type of its users.
export type BearerStrategyOptions = RequireBearerOptions<any>

/** The options of the strategy, and other names of its scopes. Passport and other strategies have other names. */
const NO_EFFECT = [...Object.keys(guardSchema), ...Object.keys(guardAliases).filter((name) => /scope/i.test(name))]

/** Refuses an option of the strategy that is passed to `passport.authenticate()`, where it would have no effect. */
export function assertNoBearerOption(options: object): void {
  const name = NO_EFFECT.find((known) => Object.hasOwn(options, known))
  if (name === undefined) return
  throw misuse(
    `BearerStrategy: passport.authenticate() takes no "${name}". Pass it to new BearerStrategy({ ${name} })`,
    PAGE.guard,
  )
}
