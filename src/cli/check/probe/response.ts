import { isPlainObject, own, parseJson } from '../../../options/values.js'
import { must } from '../verdict.js'
import type { Location } from '../wire/read-mapping.js'
import { orOf, type Wire } from '../wire/wire.js'
import type { Received } from './send.js'

export const isSuccess = ({ status }: Pick<Received, 'status'>) => status >= 200 && status < 300

export function mustBe(statuses: number | readonly number[], response: Received, what: string, hint = ''): void {
  const list = [statuses].flat()
  must(list.includes(response.status), `${what} gets ${response.status}, not ${orOf(list)}${hint && `. ${hint}`}`)
}

/** Requests, each with its name in the report. */
export type Requests = Readonly<Record<string, () => Promise<Received>>>

/** Sends requests one after another, and judges each response. */
export async function judgeEach(requests: Requests, judge: (response: Received, what: string) => void): Promise<void> {
  for (const [what, ask] of Object.entries(requests)) judge(await ask(), what)
}

export const mustAllBe = (statuses: number | readonly number[], requests: Requests): Promise<void> =>
  judgeEach(requests, (response, what) => mustBe(statuses, response, what))

/** The media types that a report names. */
const TYPES = ['application/json', 'application/problem+json', 'text/html', 'text/plain']

/** Describes the media type of a response in our own words. */
export function typeOf({ headers }: Received): string {
  const given = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (given === undefined) return 'no Content-Type'
  return TYPES.find((type) => type === given) ?? 'another Content-Type'
}

/** @throws Fault unless a response is problem details (RFC 9457) */
export function mustBeProblem(response: Received, what: string): void {
  const type = typeOf(response)
  must(type === 'application/problem+json', `${what} gets ${type}, not application/problem+json`)
}

/** A stack trace, or a path on the server. Not `\s*`, which takes minutes for a body of line ends. */
const INSIDES = /\n[ \t]*at .+:\d+:\d+|&nbsp; at |node_modules|\.[cm]?[jt]s:\d+:\d+/

/** @throws Fault when a refusal shows internals of the server, or repeats the request */
export function mustTellNothing({ body }: Received, sent: string, what: string): void {
  must(!INSIDES.test(body), `the response to ${what} shows a stack trace or a path on the server`)
  must(!body.includes(sent), `the response to ${what} repeats the request`)
}

/** Returns the parts of the bearer challenge of a response (RFC 6750 section 3). */
export function challengeIn({ headers }: Received) {
  const challenge = headers['www-authenticate'] ?? ''
  const schemes = challenge.split(',').map((part) => part.trim().split(' ')[0]?.toLowerCase())
  return {
    has: (scheme: string) => schemes.includes(scheme.toLowerCase()),
    realm: /\brealm="/i.test(challenge),
    error: /\berror="([^"]*)"/i.exec(challenge)?.[1],
    maxAge: /\bmax_age="?([^",]*)/i.exec(challenge)?.[1],
  }
}

/** Returns a value of a response, or undefined. The value of a cookie is as the server wrote it. */
export function valueAt(response: Pick<Received, 'body' | 'headers'>, { in: place, name }: Location): unknown {
  if (place === 'header') return own(response.headers, name.toLowerCase())
  if (place === 'cookie')
    return cookieLine(response, name)
      ?.slice(name.length + 1)
      .split(';', 1)[0]
  let value = parseJson(response.body)
  for (const part of name.split('.')) {
    if (!isPlainObject(value) && !Array.isArray(value)) return undefined
    value = own(value as Record<string, unknown>, part)
  }
  return value
}

/** Returns the last line of `Set-Cookie` that sets a cookie. */
export const cookieLine = ({ headers }: Pick<Received, 'headers'>, name: string): string | undefined =>
  headers['set-cookie']?.findLast((line) => line.startsWith(`${name}=`))

/** Returns the `Date` of a response in seconds since the epoch, or undefined. */
export function dateOf({ headers }: Received): number | undefined {
  const time = Date.parse(headers.date ?? '')
  return Number.isNaN(time) ? undefined : time / 1000
}

/** Returns the time of a response in seconds since the epoch. A response without `Date` has the time when it arrived. */
export const timeOf = (response: Received): number => dateOf(response) ?? response.receivedAt / 1000

/** A time in ISO 8601. `Date.parse` also reads other texts. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

type ExpirationForm = NonNullable<Wire['expiration']>['form']

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
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !(number >= 0)) return undefined
  const seconds = form.endsWith('milliseconds') ? number / 1000 : number
  return form.startsWith('epoch') ? seconds : now + seconds
}
