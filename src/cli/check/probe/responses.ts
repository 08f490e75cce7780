import { must } from '../verdict.js'
import { orOf, type Statuses } from '../wire/wire.js'
import type { Received } from './send.js'

export const isSuccess = ({ status }: Pick<Received, 'status'>) => status >= 200 && status < 300

export function mustBe(statuses: number | Statuses, response: Received, what: string, hint = ''): void {
  const list = [statuses].flat()
  must(list.includes(response.status), `${what} gets ${response.status}, not ${orOf(list)}${hint && `. ${hint}`}`)
}

/** The media types that a report names. */
const TYPES = ['application/json', 'application/problem+json', 'text/html', 'text/plain']

/** Describes the media type of a response in our own words. */
export function typeOf({ headers }: Received): string {
  const given = headers['content-type']
  if (given === undefined) return 'no Content-Type'
  return TYPES.find((type) => type === given.split(';', 1)[0]?.trim().toLowerCase()) ?? 'another Content-Type'
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

/** The bearer challenge of a response (RFC 6750 section 3). */
interface Challenge {
  /** Returns whether there is a challenge with this scheme. */
  has: (scheme: string) => boolean
  realm: boolean
  error: string | undefined
  maxAge: string | undefined
}

export function challengeIn({ headers }: Received): Challenge {
  const challenge = headers['www-authenticate'] ?? ''
  return {
    has: (scheme) =>
      challenge.split(',').some((part) => part.trim().split(' ')[0]?.toLowerCase() === scheme.toLowerCase()),
    realm: /\brealm="/i.test(challenge),
    error: /\berror="([^"]*)"/i.exec(challenge)?.[1],
    maxAge: /\bmax_age="?([^",]*)/i.exec(challenge)?.[1],
  }
}
