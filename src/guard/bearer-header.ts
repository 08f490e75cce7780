import type { IncomingMessage } from 'node:http'
import { AuthError, isAuthError } from '../errors/auth-error.js'
import { headerOf, isCut, isRepeated } from '../http/header-lines.js'
import { describe } from '../options/read-options.js'
import { ignoreRejection, isPlainObject, isThenable, memberOf } from '../options/values.js'

/*
 * RFC 6750 section 2.1, RFC 9110 section 11.4:
 *   credentials = auth-scheme 1*SP b64token      auth-scheme = token, in any case
 *   b64token    = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="
 */
const AUTH_SCHEME = /^[!#$%&'*+.^_`|~\w-]+/
const FORM = /^application\/x-www-form-urlencoded[\t ]*(?:;|$)/i
const B64TOKEN = /^[\w.~+/-]+=*$/

/** The authentication schemes of a guard. */
export interface BearerScheme {
  /** The name of the first, as the challenge has it. */
  readonly name: string
  /** All names, in lower case. */
  readonly names: readonly string[]
  /** The form that most clients send. It needs no regular expression. */
  readonly usual: string
  readonly credentials: RegExp
}

/** @param names each a `token` of RFC 9110 section 5.6.2, which is compared without regard to letter case */
export function schemeOf(names: readonly [string, ...string[]]): BearerScheme {
  const [name] = names
  const escaped = names.map((one) => one.replace(/\W/g, '\\$&'))
  const credentials = new RegExp(`^(?:${escaped.join('|')}) +`, 'i')
  return { name, names: names.map((one) => one.toLowerCase()), usual: `${name} `, credentials }
}

export const BEARER = schemeOf(['Bearer'])

/**
 * The parameter `access_token` in the text of a query. Each letter may be percent-encoded. Not URLSearchParams, which takes up to a
 * millisecond for a query of 16 kB, before the token is checked.
 */
const TOKEN_PARAMETER = new RegExp(`(?:^|&)${[...'access_token'].map(eitherForm).join('')}(?:[=&]|$)`)

function eitherForm(letter: string): string {
  const digits = letter.charCodeAt(0).toString(16)
  return `(?:${letter}|%${digits.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)})`
}

/**
 * Reads the bearer credentials from a request's `Authorization` header. Pass the result to {@link assertB64Token} before use, unless
 * the cache knows it: a cached token has the right form.
 * @returns undefined without the header, and for another scheme
 * @throws AuthError `invalid_request` when the header is malformed or repeated, when the query or a parsed form holds a token too, and when
 * Node may have dropped header lines
 */
export function readBearer(req: IncomingMessage, scheme = BEARER): string | undefined {
  if (isCut(req)) throw new AuthError('invalid_request')
  const header = headerOf(req, 'authorization')
  if (header === undefined) return undefined
  // Node provides a string, but a middleware may have put anything there.
  if (typeof header !== 'string' || isRepeated(req, 'authorization')) throw new AuthError('invalid_request')
  const { usual, credentials, names } = scheme
  const isUsual = header.startsWith(usual) && header[usual.length] !== ' '
  const start = isUsual ? usual.length : credentials.exec(header)?.[0].length
  if (start === undefined) {
    const sent = AUTH_SCHEME.exec(header)?.[0].toLowerCase()
    if (sent !== undefined && names.includes(sent)) throw new AuthError('invalid_request')
    return undefined
  }
  const { url } = req
  if (url?.includes('?') && TOKEN_PARAMETER.test(url.slice(url.indexOf('?') + 1)))
    throw new AuthError('invalid_request')
  if (hasTokenInForm(req)) throw new AuthError('invalid_request')
  return header.slice(start)
}

/** Returns whether the host's parser has found a token in a form (RFC 6750 section 2.2). */
function hasTokenInForm(req: IncomingMessage): boolean {
  const body = memberOf(req, 'body')
  return isPlainObject(body) && Object.hasOwn(body, 'access_token') && FORM.test(String(headerOf(req, 'content-type')))
}

/** @throws AuthError `invalid_request` when the text is not a `b64token` (RFC 6750 section 2.1) */
export function assertB64Token(text: string): void {
  if (!B64TOKEN.test(text)) throw new AuthError('invalid_request')
}

/**
 * Returns the token of a request whose token is not always in the header, but for example in a cookie. Undefined or null: the request has none.
 * @param inHeader returns the token of the header `Authorization`, if it has one
 */
export type TokenFrom<R = IncomingMessage> = (req: R, inHeader: () => string | undefined) => string | undefined | null

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
    const text: unknown = ignoreRejection(tokenFrom(req, () => readBearer(req, scheme)))
    if (text === undefined || text === null) return undefined
    if (typeof text === 'string') return tokenText(text)
    const hint = isThenable(text)
      ? '. Guards do not wait for promises. Read the token in a middleware before the guard'
      : ''
    throw new TypeError(`tokenFrom: must return a string, undefined or null, but returned ${describe(text)}${hint}`)
  } catch (cause) {
    if (isAuthError(cause) && ['invalid_token', 'invalid_request'].includes(cause.code)) throw cause
    throw new AuthError('unavailable', { dependency: 'hook', option: 'tokenFrom', cause })
  }
}
