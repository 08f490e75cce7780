import { isToken } from '../../../client/grant.js'
import { isPlainObject, parseJson } from '../../../options/values.js'
import { type CompactToken, readCompact } from '../../../tokens/jwt/compact-jws.js'
import { Unjudged } from '../verdict.js'
import type { Wire } from '../wire/wire.js'
import { valueAt } from './read-response.js'
import type { Received } from './send.js'

/** The parts of a token, not verified. */
export interface ReadToken extends CompactToken {
  /** The signature in base64url. */
  signatureText: string
  text: string
  claims: Readonly<Record<string, unknown>>
}

/** Visible ASCII without the separators of cookies. Formats other than ours need not be bearer tokens of RFC 6750. */
const OPAQUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/

/** @throws Unjudged without a token, so that rows that need a token are skipped and only the row about the login fails */
export function tokenIn(response: Received, wire: Wire): string {
  const token = wire.statuses.success.includes(response.status) ? valueAt(response, wire.token) : undefined
  if (wire.own ? isToken(token) : typeof token === 'string' && OPAQUE.test(token)) return token as string
  throw new Unjudged('there is no token for this row')
}

/** Reads the parts of a token without verifying them. */
export function readJwt(text: string): ReadToken | undefined {
  const compact = readCompact(text)
  const claims = compact && parseJson(compact.payload.toString())
  if (!compact || !isPlainObject(claims)) return undefined
  return { ...compact, signatureText: compact.signature.toString('base64url'), text, claims }
}
