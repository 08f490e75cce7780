import { warnOnce } from '../events/warnings.js'
import { createLimits, type Limits } from '../limits/limits.js'
import { isPlainObject } from '../options/values.js'

/** The stores, functions and issuers of logins with default limits. */
const limited = new WeakSet<object>()

/**
 * Creates the default failed-login limits of a login. Warns when another login for the same accounts has its own.
 * @param owners the objects by which two logins for the same accounts are recognised
 */
export function defaultLimits(owners: readonly unknown[]): Limits {
  for (const owner of owners) {
    if (!isPlainObject(owner) && typeof owner !== 'function') continue
    if (limited.has(owner)) warnOnce('secondLimits')
    limited.add(owner)
  }
  return createLimits()
}
