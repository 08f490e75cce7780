import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import { isAuthError, withoutCause } from './errors.js'

/*
 * The tracing channels of Node's diagnostics_channel. Their messages hold no token, password, hash or e-mail address.
 */

/** A login, from its body to the checked password. `accountId` is set at the end. */
export const LOGIN = tracingChannel<unknown, object>('express-token-endpoint.login')

/** The verification of a token that is not cached. `accountId` and `tokenId` are set at the end. */
export const VERIFY = tracingChannel<unknown, object>('express-token-endpoint.verify')

/** One fetch of public keys. `url` has no query. */
export const FETCH_KEYS = tracingChannel<unknown, object>('express-token-endpoint.keys')

type Channel = TracingChannel<unknown, object>

/**
 * Runs a function, and publishes its start, its end and its error. The result itself is not published.
 * @param facts returns the members of the last message
 */
export function traceSync<T>(channel: Channel, run: () => T, facts: (result: T) => object): T {
  if (!channel.hasSubscribers) return run()
  const context = {}
  const results: T[] = []
  channel.traceSync(() => {
    const result = run()
    results.push(result)
    Object.assign(context, facts(result))
  }, context)
  return results[0] as T
}

/** Throws an error for subscribers, without the host's own error. */
function hideCause(error: unknown): never {
  throw isAuthError(error) ? withoutCause(error) : error
}

/**
 * Runs an asynchronous function, and publishes its start, its end and its error. The result itself is not published.
 * @param context the members of every message
 * @param facts returns the members that the end has in addition
 */
export async function tracePromise<T>(
  channel: Channel,
  run: () => Promise<T>,
  context: object,
  facts: (result: T) => object,
): Promise<T> {
  if (!channel.hasSubscribers) return run()
  let outcome: Promise<T> | undefined
  const traced = channel.tracePromise(async () => {
    outcome = run()
    Object.assign(context, facts(await outcome.catch(hideCause)))
  }, context)
  await traced.catch(() => {})
  return outcome as Promise<T>
}
