import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isUint8Array } from 'node:util/types'
import type { ContentType } from 'content-type'
import { AuthError } from '../../errors/auth-error.js'
import { type AuthErrorCode, REFUSALS } from '../../errors/codes.js'
import { assertOwnSite } from '../../http/cross-site.js'
import { isRepeated } from '../../http/header-lines.js'
import type { RequestType } from '../../http/responses.js'
import { bare, memberOf, own } from '../../options/values.js'
import { contentType, rawBody } from '../../packages/on-first-use.cjs'
import { parseUniqueJson } from './json.js'

/** A request whose body the host's own parser may have read before us. */
export type BodyRequest = IncomingMessage & { body?: unknown }

export interface BodyLimits {
  /** The longest body, in bytes. */
  bodyLimit: number
  allowedOrigins: ReadonlySet<string>
}

/** A row per request encoding: how its bytes become text, and its text a value. `parse` may throw on malformed input. */
const ENCODINGS: Readonly<
  Record<RequestType, { prepare?: (bytes: Uint8Array) => Uint8Array; parse(text: string): unknown }>
> = {
  'application/json': { parse: parseUniqueJson },
  'application/x-www-form-urlencoded': { prepare: withSpaces, parse: parseForm },
}

/**
 * Creates the reader of a request's body. It reads the body, or takes what the host's own parser made of it, and returns a function that
 * parses the body, to undefined when it is malformed. The reader rejects with an `AuthError` `unsupported_media_type`, `cross_site_form`,
 * `body_too_large`, `client_closed_request` or `invalid_body`.
 */
export function createBodyReader({ bodyLimit, allowedOrigins }: BodyLimits) {
  // Once, because `require` looks for a package again at each call when another package has loaded it first.
  const parseType = contentType().parse
  const readRaw = rawBody()

  return async function readBody(req: BodyRequest): Promise<() => unknown> {
    const headers = bare(req.headers)
    const { prepare, parse } = ENCODINGS[encodingOf(req, headers, parseType(headers['content-type'] ?? ''))]
    if (prepare) assertOwnSite(headers, allowedOrigins)
    const length = headers['content-length'] ?? null
    if (Number(length) > bodyLimit) throw new AuthError('body_too_large')
    const failed = (error: unknown) => {
      throw faultOf(req, error)
    }
    const bytes = canBeRead(req)
      ? await readRaw(req, { limit: bodyLimit, length }).catch(failed)
      : memberOf(req, 'body')
    if (!isUint8Array(bytes)) return () => bytes
    if (bytes.length > bodyLimit) throw new AuthError('body_too_large')
    return function parseBody() {
      try {
        return parse(new TextDecoder('utf-8', { fatal: true }).decode(prepare?.(bytes) ?? bytes))
      } catch {
        return undefined
      }
    }
  }
}

function encodingOf(req: IncomingMessage, headers: IncomingHttpHeaders, mediaType: ContentType): RequestType {
  const { type, parameters } = mediaType
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8'
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  const isKnown = Object.hasOwn(ENCODINGS, type)
  if (!isKnown || charset !== 'utf-8' || coding !== 'identity' || isRepeated(req, 'content-type'))
    throw new AuthError('unsupported_media_type')
  return type as RequestType
}

/** Returns false for a stream that the host's parser has read, and for a mock that has no stream: then `body` holds the result. */
function canBeRead(req: BodyRequest): boolean {
  return typeof req.read === 'function' && !req.readableDidRead && !req.readableEnded
}

/** The refusals for the errors of raw-body and of Express's parsers, by their `type`. */
const FAULTS: Readonly<Record<string, AuthErrorCode>> = {
  'charset.unsupported': 'unsupported_media_type',
  'encoding.unsupported': 'unsupported_media_type',
  'entity.too.large': 'body_too_large',
  'request.aborted': 'client_closed_request',
}

function faultOf(req: IncomingMessage, error: unknown): AuthError {
  const type = String((error as { type?: unknown }).type)
  return new AuthError(own(FAULTS, type) ?? (req.destroyed ? 'client_closed_request' : 'invalid_body'))
}

/** The other errors of Express's parsers about a body. */
const MALFORMED = /^(entity|parameters|querystring)\./

/** The `detail` for a body that the host's parser refused. It may belong to any route, so the text is not about credentials. */
const DETAILS: Readonly<Partial<Record<AuthErrorCode, string>>> = {
  invalid_body: 'The request body is malformed.',
  unsupported_media_type: 'The charset or the content coding of the request body is not supported.',
}

/**
 * Returns the refusal for an error of Express's body parsers. That error may hold the body, and so a password.
 * @returns undefined for any other error
 */
export function parserRefusal(error: unknown): AuthError | undefined {
  const [type, status, body] = (['type', 'status', 'body'] as const).map((name) => own(Object(error), name))
  if (typeof type !== 'string') return undefined
  const holdsBody = Number(status) >= 400 && Number(status) < 500 && (typeof body === 'string' || isUint8Array(body))
  const code = own(FAULTS, type) ?? (holdsBody || MALFORMED.test(type) ? 'invalid_body' : undefined)
  return code && new AuthError(code, { message: own(DETAILS, code) ?? REFUSALS[code].message })
}

/** The most fields of a form. A login needs two. */
export const MOST_FIELDS = 100

const [PLUS, SPACE] = [0x2b, 0x20]

/** Replaces each plus sign in a copy. In text, that takes several times as long. */
function withSpaces(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => (byte === PLUS ? SPACE : byte))
}

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
