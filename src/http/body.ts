import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isUint8Array } from 'node:util/types'
import { AuthError } from '../errors/auth-error.js'
import type { AuthErrorCode } from '../errors/codes.js'
import { bare, memberOf, resultOrUndefined } from '../options/values.js'
import { assertFormOfOwnOrigin, assertOwnSite } from './cross-site.js'
import { isRepeated } from './header-lines.js'
import type { RequestType } from './responses.js'

/** A request whose body the host's own parser may have read before us. */
export type BodyRequest = IncomingMessage & { body?: unknown }

export interface BodyLimits {
  /** The longest body, in bytes. */
  bodyLimit: number
  allowedOrigins: ReadonlySet<string>
}

/** The parsers of the request encodings. They throw for malformed input. */
const PARSERS: Readonly<Record<RequestType, (bytes: Uint8Array) => unknown>> = {
  'application/json': (bytes) => parseJson(textOf(bytes)),
  'application/x-www-form-urlencoded': (bytes) => parseForm(textOf(withSpaces(bytes))),
}

/**
 * Creates the reader of a request's body. It reads the body, or takes what the host's own parser made of it, and returns a function that
 * parses the body, to undefined when it is malformed. The reader rejects with an `AuthError` `unsupported_media_type`, `cross_site_form`,
 * `body_too_large`, `client_closed_request` or `invalid_body`.
 */
export function createBodyReader({ bodyLimit, allowedOrigins }: BodyLimits) {
  /** @param isOfOrigin true for a request whose token a browser may have added by itself. Default: it has none */
  return async function readBody(req: BodyRequest, isOfOrigin = false): Promise<() => unknown> {
    const headers = bare(req.headers)
    const type = requestTypeOf(req, headers)
    const assertOwn = isOfOrigin ? assertFormOfOwnOrigin : assertOwnSite
    if (type === 'application/x-www-form-urlencoded') assertOwn(headers, allowedOrigins)
    if (Number(headers['content-length']) > bodyLimit) throw new AuthError('body_too_large')
    const body = canBeRead(req) ? await bytesOf(req, bodyLimit, headers['content-length']) : memberOf(req, 'body')
    if (!isUint8Array(body)) return () => body
    if (body.length > bodyLimit) throw new AuthError('body_too_large')
    return () => resultOrUndefined(() => PARSERS[type](body))
  }
}

/** The parts of a media type between semicolons, which a text in quotes may contain. */
const PART = /(?:"(?:[^"\\]|\\.)*"?|[^;"])+/gs

function requestTypeOf(req: IncomingMessage, headers: IncomingHttpHeaders): RequestType {
  // `trim` would also remove a no-break space.
  const header = (headers['content-type'] ?? '').toLowerCase().replaceAll('\xa0', '?')
  const [type = '', ...parameters] = (header.match(PART) ?? []).map((part) => part.trim())
  const charset = parameters.find((parameter) => /^charset\s*=/.test(parameter)) ?? 'charset=utf-8'
  const isUtf8 = /^charset\s*=\s*(utf-8|"utf-8")$/.test(charset)
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (!Object.hasOwn(PARSERS, type) || !isUtf8 || coding !== 'identity' || isRepeated(req, 'content-type'))
    throw new AuthError('unsupported_media_type')
  return type as RequestType
}

/** Returns false for a stream that the host's parser has read, and for a mock that has no stream: then `body` holds the result. */
function canBeRead(req: BodyRequest): boolean {
  return typeof req.read === 'function' && !req.readableDidRead && !req.readableEnded
}

/** Reads the bytes of a body. Above the limit, the rest stays unread, so that the client can get its response. */
function bytesOf(req: IncomingMessage, limit: number, length: string | undefined): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let received = 0
    const end = (code?: AuthErrorCode) => {
      for (const [event, listener] of Object.entries(listeners)) req.off(event, listener)
      if (code) reject(new AuthError(code))
      else resolve(Buffer.concat(chunks))
    }
    const leave = () => end('client_closed_request')
    const listeners = {
      data(chunk: unknown) {
        // Text, after `setEncoding`: malformed bytes became equal characters.
        if (!isUint8Array(chunk)) return end('invalid_body')
        received += chunk.length
        chunks.push(chunk)
        if (received <= limit) return
        req.pause()
        end('body_too_large')
      },
      end: () => end(received === Number(length ?? received) ? undefined : 'invalid_body'),
      error: leave,
      close: leave,
    }
    if (req.destroyed) return leave()
    for (const [event, listener] of Object.entries(listeners)) req.on(event, listener)
  })
}

const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

/** The most colons, commas and brackets of a JSON text. A login needs five. */
export const MOST_SIGNS = 400

/** Parses JSON, unless the text has many values, whose number would determine the time. */
function parseJson(text: string): unknown {
  let signs = 0
  let isInString = false
  for (let i = 0; i < text.length && signs <= MOST_SIGNS; i++) {
    const sign = text.charAt(i)
    if (sign === '\\') i++
    else if (sign === '"') isInString = !isInString
    else if (!isInString && '{}[]:,'.includes(sign)) signs++
  }
  return signs > MOST_SIGNS ? undefined : JSON.parse(text)
}

/** The most fields of a form. A login needs two. */
export const MOST_FIELDS = 100

const [PLUS, SPACE] = [0x2b, 0x20]

/** Replaces each plus sign in a copy. In text, that takes several times as long. */
const withSpaces = (bytes: Uint8Array) => bytes.map((byte) => (byte === PLUS ? SPACE : byte))

/**
 * Parses a form (https://url.spec.whatwg.org/#application/x-www-form-urlencoded) whose plus signs are spaces already.
 * @returns undefined for a repeated field and for too many fields
 * @throws URIError for text that is not percent-encoded UTF-8
 */
function parseForm(text: string): Record<string, string> | undefined {
  const pairs = text.split('&', MOST_FIELDS + 1)
  if (pairs.length > MOST_FIELDS) return undefined
  const fields = new Map<string, string>()
  for (const pair of pairs.filter(Boolean)) {
    const end = `${pair}=`.indexOf('=')
    const name = decodeURIComponent(pair.slice(0, end))
    if (fields.has(name)) return undefined
    fields.set(name, decodeURIComponent(pair.slice(end + 1)))
  }
  return Object.fromEntries(fields)
}
