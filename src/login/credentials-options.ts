import type { Request } from 'express'
import { func } from '../options/checks.js'
import { type Check, describeList, InvalidOption, optional } from '../options/read-options.js'
import { LONGEST_CREDENTIALS, type MapBody } from './read-credentials.js'

/** The options for reading the credentials of a request. */
export interface CredentialsOptions<R = Request> {
  /** Maximum body size, from 1 byte to 1 MB, as a number of bytes or a string. Larger bodies return `413`. Default: `'10kb'`. */
  bodyLimit?: number | string | undefined
  /**
   * Origins whose pages can submit credentials as a form, such as `'https://app.example.com'`. Forms from other sites return `415`. For
   * JSON, use
   * [`cors()`](https://github.com/express-token-endpoint/express-token-endpoint/blob/main/docs/guides/proxies-and-cors.md#allow-pages-on-another-origin-cors).
   * If you use `refresh: 'cookie'`, also list other origins from which users sign in, refresh, and sign out. Requests from unlisted origins
   * return `403`. Default: `[]`.
   */
  allowedOrigins?: readonly string[] | undefined
  /**
   * A function, `(body, req) => ({ email, password })`, that reads credentials from a different body format. Additional members of the
   * result become `fields`. If the function throws an error or does not return credentials, the client receives `400`. Default: the members
   * of the body.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host knows the shape of its bodies.
  credentials?: ((body: any, req: R) => unknown) | undefined
}

const BYTE_SIZE = /^(\d+(?:\.\d+)?) ?(?:([km])?b)?$/i
const UNITS: Readonly<Record<string, number>> = { k: 1024, m: 1_048_576 }

/** Returns the size that a text like `'10kb'` names, in bytes. */
function sizeIn(text: string): number {
  const [, number, unit = ''] = BYTE_SIZE.exec(text) ?? []
  return Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? 1))
}

const byteSize: Check<number> = (value) => {
  const size = typeof value === 'string' ? sizeIn(value) : (value as number)
  if (!Number.isInteger(size) || size < 1 || size > LONGEST_CREDENTIALS) {
    throw new InvalidOption("a number of bytes or a string like '10kb', from 1 byte to 1 MB")
  }
  return size
}

/** Apps have other schemes, whose origins `URL` does not know. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/

/** Returns whether a text is an origin as browsers write it (https://html.spec.whatwg.org/#ascii-serialisation-of-an-origin). */
const isOrigin = (text: unknown): text is string =>
  typeof text === 'string' && ORIGIN.test(text) && URL.canParse(text) && [text, 'null'].includes(new URL(text).origin)

const AS_BROWSERS = 'Write origins in lower case, without a path and without the default port'

/** Checks the origin of a page. */
export const pageOrigin: Check<string> = (value) => {
  if (isOrigin(value)) return value
  throw new InvalidOption('an origin, like https://app.example.com', mistakeIn(value) ?? AS_BROWSERS)
}

const originList: Check<ReadonlySet<string>> = (value) => {
  if (Array.isArray(value) && value.every(isOrigin)) return new Set(value)
  const wrong = Array.isArray(value) ? value.find((one) => !isOrigin(one)) : value
  throw new InvalidOption(
    "an array of origins, like ['https://app.example.com']",
    mistakeIn(wrong) ?? AS_BROWSERS,
    describeList(isOrigin),
  )
}

/** Returns the likely mistake in a text that is not an origin. */
function mistakeIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (value === '*') return 'List every origin, because "*" would let any page send credentials'
  if (!value.includes('://')) return 'Is "https://" missing?'
  if (value !== value.toLowerCase()) return 'Write the origin in lower case'
  const [, rest = ''] = value.split('://')
  if (/[/?#]/.test(rest)) return 'Remove the slash and everything after it'
  return /:(80|443)$/.test(rest) ? 'Remove the default port' : undefined
}

export const credentialsSchema = {
  bodyLimit: optional(byteSize, 10_240),
  allowedOrigins: optional(originList, new Set<string>()),
  credentials: optional(func<MapBody>('a function (body, req) => ({ email, password })')),
}
