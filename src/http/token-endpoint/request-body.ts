import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isUint8Array } from 'node:util/types'
import { AuthError, type AuthErrorCode } from '../../shared/errors.js'
import { bare, own } from '../../shared/values.js'
import { contentType, rawBody } from '../on-first-use.cjs'
import type { RequestType } from '../shared/answers.js'
import { isRepeated } from '../shared/header-lines.js'
import { parseUniqueJson } from './json.js'

/** A request whose body the host's own parser may have read before us. */
export type BodyRequest = IncomingMessage & { body?: unknown }

/** A row per request encoding: how its text becomes a value. Throws on malformed text. */
const ENCODINGS: Readonly<Record<RequestType, (text: string) => unknown>> = {
  'application/json': parseUniqueJson,
  'application/x-www-form-urlencoded': parseForm,
}

let packages:
  | { parseContentType: ReturnType<typeof contentType>['parse']; getRawBody: ReturnType<typeof rawBody> }
  | undefined

/**
 * Loads the packages that read a body, which the first request would otherwise wait for.
 * @internal
 */
export function loadBodyReader(): NonNullable<typeof packages> {
  packages ??= { parseContentType: contentType().parse, getRawBody: rawBody() }
  return packages
}

/**
 * Reads and parses a request's body, or takes what the host's own parser made of it.
 * @throws AuthError `unsupported_media_type`, `body_too_large` or `invalid_body`
 */
export async function readBody(req: BodyRequest, limit: number): Promise<unknown> {
  const headers = bare(req.headers)
  const parse = parserOf(req, headers)
  if (Number(headers['content-length']) > limit) throw new AuthError('body_too_large')
  const bytes = canBeRead(req) ? await readBytes(req, limit, headers) : req.body
  if (!isUint8Array(bytes)) return bytes
  if (bytes.length > limit) throw new AuthError('body_too_large')
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new AuthError('invalid_body')
  }
}

/** Returns false for a stream that the host's parser has read, and for a mock that has no stream: then `body` holds the result. */
function canBeRead(req: BodyRequest): boolean {
  return typeof req.read === 'function' && !req.readableDidRead && !req.readableEnded
}

function parserOf(req: IncomingMessage, headers: IncomingHttpHeaders): (text: string) => unknown {
  const { parseContentType } = packages ?? loadBodyReader()
  const { type, parameters } = parseContentType(headers['content-type'] ?? '')
  const parse = Object.hasOwn(ENCODINGS, type) ? ENCODINGS[type as RequestType] : undefined
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8'
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (!parse || charset !== 'utf-8' || coding !== 'identity' || isRepeated(req, 'content-type'))
    throw new AuthError('unsupported_media_type')
  return parse
}

/** The refusals for the errors of raw-body. */
const FAULTS: Readonly<Record<string, AuthErrorCode>> = {
  'entity.too.large': 'body_too_large',
  'request.aborted': 'client_closed_request',
}

async function readBytes(req: IncomingMessage, limit: number, headers: IncomingHttpHeaders): Promise<Uint8Array> {
  const { getRawBody } = packages ?? loadBodyReader()
  try {
    return await getRawBody(req, { limit, length: headers['content-length'] ?? null })
  } catch (error) {
    const type = String((error as { type?: unknown }).type)
    throw new AuthError(own(FAULTS, type) ?? (req.destroyed ? 'client_closed_request' : 'invalid_body'))
  }
}

/**
 * Parses a form (https://url.spec.whatwg.org/#application/x-www-form-urlencoded).
 * @throws Error for a repeated field, and for text that is not percent-encoded UTF-8
 */
function parseForm(text: string): Record<string, string> {
  const fields = new Map<string, string>()
  for (const pair of text.split('&').filter(Boolean)) {
    const [name, ...value] = pair.split('=') as [string, ...string[]]
    const field = decodeField(name)
    if (fields.has(field)) throw new SyntaxError('repeated field')
    fields.set(field, decodeField(value.join('=')))
  }
  return Object.fromEntries(fields)
}

const decodeField = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
