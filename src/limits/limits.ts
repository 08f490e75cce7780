import { withDeadline } from '../concurrency/host-call.js'
import { func, withMethods } from '../options/checks.js'
import { misuse, withoutSecrets } from '../options/misuse.js'
import { aliasesOf, type Check, named, optional, readOptions } from '../options/read-options.js'
import { memberOf } from '../options/values.js'
import { LONGEST_EMAIL } from './account-key.js'
import { type AttemptOutcome, createAttempts, type LimitsPort, type ResetAccount } from './attempt.js'
import { createLoginLimit, type LoginLimit, limitOption } from './limit.js'
import { type Limiter, type LimiterOptions, type Size, sharedLimit } from './shared-limit.js'
import { sharedStore } from './shared-store.js'

/**
 * The failed-login limits. `false` disables a limit.
 * @inline
 */
interface LoginLimits {
  /** Failed logins of one account from one client network. Default: 10 in 15 minutes. */
  pair?: LoginLimit | false | undefined
  /** Failed logins from one client network, for all accounts. Default: 100 in an hour. */
  address?: LoginLimit | false | undefined
  /** Failed logins of one account, from all client networks. Default: 100 in an hour. */
  account?: LoginLimit | false | undefined
}

/** The options of `createLimits`. */
export interface LimitsOptions {
  /**
   * A function, `({ keyPrefix, points, duration }) => limiter`, that [shares the limits between
   * processes](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/deploy.md). Return a limiter with the
   * methods `consume`, `get`, and `delete`, such as `RateLimiterRedis` from rate-limiter-flexible. Default: the memory of the process.
   *
   * While the store fails or hangs, the limits continue in this process's memory.
   */
  limiter?: ((options: LimiterOptions) => Limiter) | undefined
  /**
   * Object `{ pair, address, account }`. Set each member to `{ points, duration }`, or to `false` to disable the limit. `points` can range
   * from 1 to 1,000,000, and `duration` from 1 s to 366 days. Default: see below.
   */
  limits?: LoginLimits | undefined
}

/**
 * An attempt that `consume` has counted.
 * @inline
 */
interface CountedAttempt {
  /**
   * Ends the attempt. Only `'failed'` makes it a failure of the limits: wait for the result, then send the response. `'not_checked'`: nothing
   * was checked, for example because a dependency failed. `'disconnected'`: the client has disconnected before the check.
   */
  end(outcome: AttemptOutcome): void | Promise<void>
}

/** Failed-login limits, as `createLimits` returns them. */
export interface Limits {
  /**
   * Counts an attempt against every limit, before a custom route checks a password or a code. Call `end` of the result once.
   * @param storeFailed called with the error when the attempt continues without the shared store
   * @param about the account with that address, if it is known, and its tenant, as the option `tenant` returns it
   * @throws AuthError `too_many_attempts`, or `overloaded` when attempts under way leave no room; the attempt is then not counted
   */
  consume(
    email: string,
    address: string | undefined,
    storeFailed: (error: unknown) => void,
    about?: { accountId?: string | undefined; tenant?: string | undefined },
  ): Promise<CountedAttempt>
  /**
   * Lifts the limits of an account from all addresses, for example after a password reset. Limits of an address stay. Attempts under way
   * stay too, and count if they fail. Other processes lift them at their next login of the account, except for failures that the shared
   * store could not count.
   * @throws TypeError when no account can have the id or the address
   * @throws Error with a `cause` when the shared store fails: this process has lifted the limits, but other processes may still refuse
   */
  reset(account: ResetAccount): Promise<void>
}

const caller = 'createLimits'

/** The time limit of a reset. It is longer than that of a login, because no login waits for it. */
const RESET_MS = 5000

const STORE_FAILED =
  'limits.reset: the shared store failed, so other processes may still refuse this account. Call reset again when the store works.'

function sizeOf(name: string, fallback: Size) {
  const size = limitOption(`${caller}: option "limits.${name}"`, '{ points, duration } or false')
  const check: Check<Size | false> = (value) => value !== false && size(value)
  return optional(check, fallback)
}

const HOUR = 3600

/** The limits, in the order of their precedence. When several limits are reached, the first one is named and tells how long to wait. */
const limitsSchema = {
  address: sizeOf('address', { points: 100, duration: HOUR }),
  pair: sizeOf('pair', { points: 10, duration: HOUR / 4 }),
  account: sizeOf('account', { points: 100, duration: HOUR }),
}

const LIMITS = `${caller}: option "limits"`

const schema = {
  limiter: optional(func<(options: LimiterOptions) => Limiter>('a function (options) => limiter')),
  limits: (value: unknown) => readOptions<LoginLimits, typeof limitsSchema>(LIMITS, value as LoginLimits, limitsSchema),
}

const aliases = {
  ...aliasesOf({
    limiter: 'store',
    limits: 'pair address account',
    "Pass limits: { pair: { points: 10, duration: '15m' } }": 'points duration max windowMs',
  }),
  // The names of options before 1.0.
  budgets: 'limits',
  budget: 'limits',
  spraying: 'Remove it, because limits no longer compare passwords.',
}

/**
 * Creates failed-login limits (OWASP ASVS 5, 6.3.1). Share one object between all token routers of a process, because two objects
 * would allow twice the guesses.
 * @throws TypeError that names the invalid option
 */
export function createLimits(options?: LimitsOptions): Limits {
  const read = readOptions<LimitsOptions, typeof schema>(caller, options, schema, aliases)
  const { limiter: factory, limits: sizes } = read
  const store = sharedStore()
  const limits = (Object.keys(limitsSchema) as (keyof LoginLimits)[]).flatMap((name) => {
    const size = sizes[name]
    if (!size) return []
    const options = { keyPrefix: `login-${name}`, ...size }
    const limiter = factory && named(`${caller}: what "limiter" returned`, limiterCheck, factory({ ...options }))
    return [createLoginLimit(name, size, limiter && sharedLimit(limiter, store, size))]
  })
  const { checkAddress, attempt, consume, reset } = createAttempts(limits)

  // The methods of the port are for the logins of this package, so the type does not name them.
  const port: LimitsPort = { checkAddress, attempt }
  return {
    ...port,
    consume: (email, address, storeFailed, { accountId, tenant } = {}) =>
      consume({ email, address, tenant }, storeFailed, accountId),
    async reset(account) {
      const given: Partial<ResetAccount> = Object(account)
      const [id, email, tenant] = [memberOf(given, 'id'), memberOf(given, 'email'), memberOf(given, 'tenant')]
      if (!isText(id) || !isText(email) || email.length > LONGEST_EMAIL || !(tenant === undefined || isText(tenant))) {
        throw misuse(
          `limits.reset: pass the { id, email } of an account, with an address of at most ${LONGEST_EMAIL} characters, and "tenant" if its login has a tenant`,
        )
      }
      try {
        await withDeadline(RESET_MS, reset({ id, email, tenant }))
      } catch (cause) {
        throw withoutSecrets(new Error(STORE_FAILED, { cause }))
      }
    },
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const limiterCheck = withMethods<Limiter>(
  'a rate-limiter-flexible limiter',
  ['consume', 'get', 'delete'],
  () => 'It has "consume", "get" and "delete"',
)
