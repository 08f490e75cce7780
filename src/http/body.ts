import type { IncomingMessage } from 'node:http'
import { parse as parseContentType } from 'content-type'
import getRawBody from 'raw-body'
import { AuthError, type AuthErrorCode } from '../errors.js'
import type { RequestType } from './wire.js'

/** A request whose body the host's own parser may have read before us. */
export type BodyRequest = IncomingMessage & { body?: unknown }

/** A row per request encoding: how its text becomes a value. Throws on malformed text. */
const ENCODINGS: Readonly<Record<RequestType, (text: string) => unknown>> = {
  'application/json': JSON.parse,
  'application/x-www-form-urlencoded': parseForm,
}

/**
 * Reads and parses a request's body, or takes what the host's own parser made of it.
 * @throws AuthError `unsupported_media_type`, `body_too_large` or `invalid_body`
 */
export async function readBody(req: BodyRequest, limit: number): Promise<unknown> {
  const parse = parserOf(req)
  if (Number(req.headers['content-length']) > limit) throw new AuthError('body_too_large')
  // A stream that was read cannot be read again: then what the host's parser left is all there is.
  const bytes = req.readableDidRead || req.readableEnded ? req.body : await readBytes(req, limit)
  if (!(bytes instanceof Uint8Array)) return bytes
  if (bytes.length > limit) throw new AuthError('body_too_large')
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new AuthError('invalid_body')
  }
}

function parserOf({ headers }: IncomingMessage): (text: string) => unknown {
  const { type, parameters } = parseContentType(headers['content-type'] ?? '')
  const parse = isKnown(type) ? ENCODINGS[type] : undefined
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8'
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (!parse || charset !== 'utf-8' || coding !== 'identity') throw new AuthError('unsupported_media_type')
  return parse
}

function isKnown(type: string): type is RequestType {
  return Object.hasOwn(ENCODINGS, type)
}

/** What raw-body's complaints mean. */
const FAULTS: Readonly<Record<string, AuthErrorCode>> = {
  'entity.too.large': 'body_too_large',
  'request.aborted': 'client_closed_request',
}

async function readBytes(req: IncomingMessage, limit: number): Promise<Uint8Array> {
  try {
    return await getRawBody(req, { limit, length: req.headers['content-length'] ?? null })
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? error.type : undefined
    throw new AuthError(FAULTS[String(type)] ?? 'invalid_body')
  }
}

/**
 * The strict half of https://url.spec.whatwg.org/#application/x-www-form-urlencoded: what is no percent-encoded UTF-8, or
 * names a field twice, is malformed, where lenient parsers would guess.
 */
function parseForm(text: string): Record<string, string> {
  const fields = new Map<string, string>()
  for (const pair of text.split('&').filter(Boolean)) {
    const [name = '', ...value] = pair.split('=')
    const field = decodeField(name)
    if (fields.has(field)) throw new SyntaxError('repeated field')
    fields.set(field, decodeField(value.join('=')))
  }
  return Object.fromEntries(fields)
}

const decodeField = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
