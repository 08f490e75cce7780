import { REFRESH_COOKIE } from '../../http/refresh-cookie-name.js'
import { isPlainObject, own, parseJson } from '../../options/values.js'
import type { Received } from './send.js'
import { must } from './verdict.js'

export const isSuccess = ({ status }: Pick<Received, 'status'>) => status >= 200 && status < 300

export function mustBe(expected: number, { status }: Received, what: string, hint = ''): void {
  must(status === expected, `${what} returned ${status}, not ${expected}${hint && `. ${hint}`}`)
}

/** The media types that a report names. Others may hold text of the server. */
const TYPES = ['application/json', 'text/html', 'text/plain']

/** @throws Fault unless a response is problem details (RFC 9457) */
export function mustBeProblem({ headers }: Received, what: string): void {
  const given = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  const shown = given === undefined ? 'no Content-Type' : TYPES.find((type) => type === given)
  const holds = given === 'application/problem+json'
  must(holds, `${what} returned ${shown ?? 'a different Content-Type'}, not application/problem+json`)
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
  return {
    isBearer: challenge.split(',').some((part) => /^\s*bearer(\s|$)/i.test(part)),
    realm: /\brealm="/i.test(challenge),
    error: /\berror="([^"]*)"/i.exec(challenge)?.[1],
    maxAge: /\bmax_age="?([^",]*)/i.exec(challenge)?.[1],
  }
}

/** Returns a member of the JSON object in a response, or undefined. */
export function memberIn({ body }: Pick<Received, 'body'>, name: string): unknown {
  const value = parseJson(body)
  return isPlainObject(value) ? own(value, name) : undefined
}

/** Returns the last line of `Set-Cookie` that sets a cookie. */
export const cookieLine = ({ headers }: Pick<Received, 'headers'>, name: string): string | undefined =>
  headers['set-cookie']?.findLast((line) => line.startsWith(`${name}=`))

/** A refresh token, and how the app gave it. */
export interface Held {
  mode: 'cookie' | 'body'
  text: string
}

/** Returns the refresh token in a response, or undefined. */
export function heldIn(response: Received): Held | undefined {
  const cookie = cookieLine(response, REFRESH_COOKIE)
    ?.slice(REFRESH_COOKIE.length + 1)
    .split(';', 1)[0]
  if (cookie) return { mode: 'cookie', text: cookie }
  const text = memberIn(response, 'refreshToken')
  return typeof text === 'string' && text !== '' ? { mode: 'body', text } : undefined
}
