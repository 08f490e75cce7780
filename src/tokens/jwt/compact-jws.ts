import { isUtf8 } from 'node:buffer'
import { bare, isPlainObject, parseJson } from '../../options/values.js'

interface JoseHeader {
  readonly alg: unknown
  readonly kid: unknown
  readonly typ: unknown
  readonly crit: unknown
}

/** A token before its signature is checked. Its payload must not be read before. */
export interface CompactToken extends JoseHeader {
  readonly payload: Buffer
  /** The signed text: header and payload in base64url (RFC 7515 section 5.1). */
  readonly signed: string
  readonly signature: Buffer
}

/**
 * Splits a JWS in compact form (RFC 7515 section 7.1). Every part must have the one canonical spelling of its bytes: base64url without
 * padding, the unused bits zero.
 * @returns undefined for anything else
 */
export function readCompact(token: string): CompactToken | undefined {
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  if (second < 0 || token.includes('.', second + 1)) return undefined
  const header = readHeader(token.slice(0, first))
  const payload = canonicalBytes(token.slice(first + 1, second))
  const signature = canonicalBytes(token.slice(second + 1))
  if (!header || !payload || !isUtf8(payload) || !signature) return undefined
  return { ...header, payload, signed: token.slice(0, second), signature }
}

/**
 * Returns the `iss` of a token whose signature has not been checked. It may only select the verifier that checks the token.
 * @returns undefined for a text that is not a JWT with an `iss`
 */
export function unverifiedIssuer(token: string): string | undefined {
  const [, payloadPart = ''] = token.split('.', 3)
  const payload = canonicalBytes(payloadPart)
  const issuer = payload && isUtf8(payload) ? parseJson(issuerIn(payload.toString())) : undefined
  return typeof issuer === 'string' ? issuer : undefined
}

/**
 * Returns whether a text before a dot is a JSON object in base64, as the header of a JWT is. Other spellings than the strict form count
 * too, so that no spelling of a JWT reaches a verifier of other texts.
 */
export function looksLikeJwt(text: string): boolean {
  const end = text.indexOf('.')
  if (end < 0) return false
  return end > LONGEST_HEADER || isPlainObject(parseJson(Buffer.from(text.slice(0, end), 'base64').toString()))
}

/** The name of a member `iss` whose value is text. */
const ISSUER = /"iss"[ \t\n\r]*:[ \t\n\r]*(?=")/y

/**
 * Returns the text of the member `iss` of a JSON object, as JSON. Does not parse the object, because to parse 15 kB of nested lists
 * takes longer than to check a signature.
 */
function issuerIn(json: string): string {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') {
      ISSUER.lastIndex = at
      const isIssuer = depth === 1 && ISSUER.test(json)
      const start = isIssuer ? ISSUER.lastIndex : at
      at = endOfText(json, start)
      if (isIssuer) return json.slice(start, at + 1)
    } else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
  }
  return ''
}

/** Returns the index of the quote that ends a JSON string. */
function endOfText(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}

/** The longest header, in characters. It is parsed before the signature is checked. Headers have about 100, and 1,000 with a long URL. */
const LONGEST_HEADER = 2048

/** The header that was read last, because the tokens of one key have the same header. */
let last: { readonly part: string; readonly header: JoseHeader } | undefined

function readHeader(part: string): JoseHeader | undefined {
  if (last?.part === part) return last.header
  if (part.length > LONGEST_HEADER) return undefined
  const bytes = canonicalBytes(part)
  const members = bytes && isUtf8(bytes) ? parseJson(bytes.toString()) : undefined
  if (!isPlainObject(members)) return undefined
  const { alg, kid, typ, crit } = bare(members)
  last = { part, header: { alg, kid, typ, crit } }
  return last.header
}

function canonicalBytes(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url')
  return part !== '' && bytes.toString('base64url') === part ? bytes : undefined
}
