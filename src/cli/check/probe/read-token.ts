import { isToken } from '../../../client/grant.js'
import { isPlainObject } from '../../../shared/options.js'
import { type CompactToken, parseJson, readCompact } from '../../../tokens/jwt/compact-jws.js'
import { Unjudged } from '../verdict.js'
import type { Answer } from './send.js'

/** The parts of a token, not verified. */
export interface ReadToken extends CompactToken {
  /** The signature in base64url. */
  signatureText: string
  text: string
  claims: Readonly<Record<string, unknown>>
}

/** Returns what a response gives as the token. It need not be a token. */
export function givenToken({ body }: Answer): unknown {
  const result = parseJson(body)
  return isPlainObject(result) ? result['authenticationToken'] : undefined
}

/** @throws Unjudged without a token, so that rows that need a token are skipped and only the row about the login fails */
export function tokenIn(answer: Answer): string {
  const token = answer.status === 200 ? givenToken(answer) : undefined
  if (isToken(token)) return token
  throw new Unjudged('there is no token for this row')
}

/** Reads the parts of a token without verifying them. */
export function readJwt(text: string): ReadToken | undefined {
  const compact = readCompact(text)
  const claims = compact && parseJson(compact.payload.toString())
  if (!compact || !isPlainObject(claims)) return undefined
  return { ...compact, signatureText: compact.signature.toString('base64url'), text, claims }
}
