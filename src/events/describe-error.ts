import { isNativeError } from 'node:util/types'
import { hasNoSecret } from '../options/misuse.js'
import { resultOrUndefined } from '../options/values.js'

/** A call in a stack: the file, the line and the column. */
const CALL = /^ {4}at (?:.* \()?((?:node:|file:|\/|[A-Za-z]:\\).*:\d+:\d+)\)?$/m

/**
 * Describes an error for the log of a host that set no observer: by its class and the line that created it. The message may hold a
 * secret, for example the URL of a database.
 */
export const describeError = (error: unknown): string =>
  resultOrUndefined(() => classAndLine(error)) ?? 'the error is not readable'

function classAndLine(error: unknown): string {
  if (!isNativeError(error)) return 'what was thrown is not an Error'
  if (hasNoSecret(error)) return error.message
  const { name } = Object(Object.getPrototypeOf(error)).constructor ?? Error
  // The stack begins with the message, whose lines may look like calls.
  const [, ...calls] = String(error.stack).split(`${error.message}\n`)
  const line = CALL.exec(calls.join('\n'))?.[1]
  return line === undefined ? String(name) : `${name} at ${line}`
}

/**
 * Returns the message of an error, with the code of its cause: the message of `fetch` is only "fetch failed". The members of what a host's
 * function throws may throw too.
 */
export const reasonOf = (error: unknown): string => resultOrUndefined(() => messageAndCode(error)) ?? 'it failed'

function messageAndCode(error: unknown): string | undefined {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown }
  const { code } = Object(cause) as { code?: unknown }
  if (typeof message !== 'string') return undefined
  return typeof code === 'string' ? `${message} (${code})` : message
}
