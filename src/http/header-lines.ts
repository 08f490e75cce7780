import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { misuse, PAGE } from '../options/misuse.js'
import { isPlainObject, memberOf, own } from '../options/values.js'

/**
 * Requires the headers as Node has them. Without this check, a Fetch `Request` with a token would look like a request without a token.
 * Requests of tests have no header lines, but then also one value for each name.
 * @throws TypeError for a request of another kind
 */
export function assertHeaderLines(caller: string, req: Partial<IncomingMessage> = {}): void {
  if (Array.isArray(memberOf(req, 'rawHeaders'))) return
  // The mocks of node-mocks-http are emitters.
  if (typeof memberOf(req, 'on') === 'function') return
  const headers = memberOf(req, 'headers')
  if (isPlainObject(headers) && typeof memberOf(headers, 'get') !== 'function' && hasNodesNames(headers)) return
  throw misuse(
    `${caller}: the request must be Node's, with "rawHeaders", or an object of "headers" with names in lower case. Pass the original request, for example Fastify's request.raw`,
    PAGE.guard,
  )
}

/** Node's names are in lower case. Those of a serverless event are as the client sent them. */
const hasNodesNames = (headers: object) =>
  Object.keys(headers).every((name) => name === 'authorization' || name.toLowerCase() !== 'authorization')

/** The default of a server's `maxHeadersCount`. */
const MOST_LINES = 1000

/** Returns whether Node may have dropped header lines, because the request has as many as the server's `maxHeadersCount`. */
export function isCut({ rawHeaders = [], socket }: IncomingMessage): boolean {
  const most = (socket as (Socket & { server?: Server }) | undefined)?.server?.maxHeadersCount ?? MOST_LINES
  return most > 0 && rawHeaders.length >= 2 * most
}

/**
 * Returns the value of a header. Node omits a header whose name a polluted `Object.prototype` has, so its line is read instead.
 * @param name in lower case
 */
export function headerOf({ headers, rawHeaders = [] }: IncomingMessage, name: string): unknown {
  const value = own(headers, name)
  if (value !== undefined || !(name in Object.prototype)) return value
  const line = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name)
  return line < 0 ? undefined : rawHeaders[line + 1]
}

/** Returns the name of the browser or program that sent a request, as it names itself (RFC 9110 section 10.1.5). */
export const userAgentOf = (req: IncomingMessage) => headerOf(req, 'user-agent') as string | undefined

/**
 * Returns whether a request has several header lines of one name. Node keeps the first `Authorization` and the first `Content-Type`
 * and drops the others silently.
 * @param name in lower case
 */
export function isRepeated(req: IncomingMessage, name: string): boolean {
  const lines: readonly string[] = req.rawHeaders ?? []
  let found = 0
  for (let i = 0; i < lines.length; i += 2) {
    if (lines[i]?.length === name.length && lines[i]?.toLowerCase() === name) found++
  }
  return found > 1
}
