import type { IncomingMessage } from 'node:http'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { describe } from '../options/read-options.js'
import { settled } from '../options/values.js'
import { B64TOKEN, type BearerScheme, readBearer } from './bearer-header.js'

/**
 * Returns the token of a request whose token is not always in the header, but for example in a cookie. Undefined: the request has none.
 * @param inHeader returns the token of the header `Authorization`, if it has one
 */
export type TokenFrom<R = IncomingMessage> = (req: R, inHeader: () => string | undefined) => string | undefined

/** The options that this step reads. */
export interface SourceSettings {
  readonly scheme: BearerScheme
  readonly tokenFrom: TokenFrom | undefined
}

/** A cookie may hold any text, and no header of the request is malformed then. */
function tokenText(text: string): string {
  if (B64TOKEN.test(text)) return text
  throw new AuthError('invalid_token', { reason: 'malformed' })
}

/**
 * Reads the text of a request's token.
 * @returns undefined for a request without a token
 * @throws AuthError `invalid_request` for a malformed header, `unavailable` when `tokenFrom` throws or returns something else
 */
export function readToken({ scheme, tokenFrom }: SourceSettings, req: IncomingMessage): string | undefined {
  if (!tokenFrom) return readBearer(req, scheme)
  try {
    const text: unknown = settled(tokenFrom(req, () => readBearer(req, scheme)))
    if (text === undefined) return text
    if (typeof text === 'string') return tokenText(text)
    throw new TypeError(`tokenFrom: must return a text or undefined, but returned ${describe(text)}`)
  } catch (cause) {
    if (isAuthError(cause) && ['invalid_token', 'invalid_request'].includes(cause.code)) throw cause
    throw new AuthError('unavailable', { dependency: 'hook', option: 'tokenFrom', cause })
  }
}
