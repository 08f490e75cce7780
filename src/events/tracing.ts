import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import { copyOf, isAuthError } from '../errors/auth-error.js'
import { bare } from '../options/values.js'

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

/** A message of a channel. Node sets `result`, which may hold a token, and `error`, whose cause is the host's own error. */
class TraceMessage {
  set result(_: unknown) {}
  set error(error: unknown) {
    const value = isAuthError(error) ? copyOf(error, { cause: undefined }) : error
    Object.defineProperty(this, 'error', bare({ value, enumerable: true }))
  }
}

/** Runs a function as `tracePromise` does, without a promise. */
export function traceSync<T>(channel: Channel, run: () => T, facts: (result: T) => object): T {
  if (!channel.hasSubscribers) return run()
  const message = new TraceMessage()
  return channel.traceSync(() => {
    const result = run()
    Object.assign(message, facts(result))
    return result
  }, message)
}

/**
 * Runs an asynchronous function, and publishes its start, its end and its error. The result itself is not published.
 * @param context the members of every message
 * @param facts returns the members that the end has in addition
 */
export function tracePromise<T>(
  channel: Channel,
  run: () => Promise<T>,
  context: object,
  facts?: (result: T) => object,
): Promise<T> {
  if (!channel.hasSubscribers) return run()
  const message = Object.assign(new TraceMessage(), context)
  return channel.tracePromise(async () => {
    const result = await run()
    Object.assign(message, facts?.(result))
    return result
  }, message)
}
