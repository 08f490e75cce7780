import { isPlainObject, own, parseJson } from '../../../options/values.js'
import type { ExpirationForm, Location } from '../wire/wire.js'
import type { Received } from './send.js'

/** Returns a value of a response, or undefined. */
export function valueAt({ body, headers }: Pick<Received, 'body' | 'headers'>, { in: place, name }: Location): unknown {
  if (place === 'header') return own(headers, name.toLowerCase())
  if (place === 'cookie') return cookieNamed(name, headers['set-cookie'] ?? [])
  let value = parseJson(body)
  for (const part of name.split('.')) {
    if (!isPlainObject(value) && !Array.isArray(value)) return undefined
    value = own(value as Record<string, unknown>, part)
  }
  return value
}

/** Returns the value of the last cookie with this name, as the server wrote it. */
function cookieNamed(name: string, lines: readonly string[]): string | undefined {
  const line = lines.findLast((one) => one.startsWith(`${name}=`))
  return line?.slice(name.length + 1).split(';', 1)[0]
}

/** Returns the line of `Set-Cookie` that sets a cookie. */
export const cookieLine = ({ headers }: Received, name: string): string | undefined =>
  (headers['set-cookie'] ?? []).findLast((one) => one.startsWith(`${name}=`))

/** Returns the `Date` of a response in seconds since the epoch, or undefined. */
export function dateOf({ headers }: Received): number | undefined {
  const time = Date.parse(headers.date ?? '')
  return Number.isNaN(time) ? undefined : time / 1000
}

/** Returns the time of a response in seconds since the epoch. A response without `Date` has the time when it arrived. */
export const timeOf = (response: Received): number => dateOf(response) ?? response.receivedAt / 1000

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

/**
 * Reads an expiration as seconds since the epoch.
 * @param now the time of the response, in seconds
 * @returns undefined when the value has another form
 */
export function secondsOf(value: unknown, form: ExpirationForm, now: number): number | undefined {
  if (form === 'iso') {
    const time = typeof value === 'string' && ISO.test(value) ? Date.parse(value) : Number.NaN
    return Number.isNaN(time) ? undefined : time / 1000
  }
  const text = typeof value === 'number' ? value : typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : -1
  if (!(text >= 0)) return undefined
  const seconds = form === 'milliseconds' || form === 'epoch-milliseconds' ? text / 1000 : text
  return form === 'seconds' || form === 'milliseconds' ? now + seconds : seconds
}
