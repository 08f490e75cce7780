import { createSecretKey } from 'node:crypto'
import { parseJson } from '../../../options/values.js'
import { signCompact } from '../../../tokens/jwt/signature.js'
import { swapCase } from '../probe/probe.js'
import type { ReadToken } from '../probe/token.js'

type JsonObject = Readonly<Record<string, unknown>>

const encode = (members: JsonObject) => Buffer.from(JSON.stringify(members)).toString('base64url')

export const headerOf = ({ headerText }: ReadToken) =>
  parseJson(Buffer.from(headerText, 'base64url').toString()) as JsonObject

/** Returns the signed part of a token with other members in its header and its claims. */
export const changed = (token: ReadToken, header: JsonObject, claims: JsonObject = {}): string =>
  `${encode({ ...headerOf(token), ...header })}.${encode({ ...token.claims, ...claims })}`

/** Returns a token of HS256 with other members in its header. */
export const withSecret = (token: ReadToken, secret: string | Buffer, header: JsonObject = {}): string =>
  signCompact({ ...headerOf(token), ...header, alg: 'HS256' }, token.claims, createSecretKey(Buffer.from(secret)))

/** Returns a signature of zeros. */
export const zeros = (bytes: number): string => Buffer.alloc(bytes).toString('base64url')

/** Returns the token with another payload, and with other bits in its signature. */
export function tampered({ claims, headerText, signed, signature, signatureText }: ReadToken): Record<string, string> {
  const withClaims = (other: JsonObject) => `${headerText}.${encode({ ...claims, ...other })}.${signatureText}`
  const flipped = (at: number) => {
    const bits = Buffer.from(signature)
    bits.writeUInt8(bits.readUInt8(at) ^ 1, at)
    return `${signed}.${bits.toString('base64url')}`
  }
  return {
    'another exp': withClaims({ exp: Number(claims['exp']) + 1 }),
    'another sub': withClaims({ sub: 'somebody-else' }),
    'another signature': flipped(0),
    'another end of its signature': flipped(signature.length - 1),
  }
}

/** Returns a token that is not a JWT, with another letter at its start, in its middle and at its end. */
export function changedLetter(text: string): Record<string, string> {
  const changed = (at: number) => text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1)
  const otherCase = swapCase(text)
  return {
    'another first letter': changed(0),
    'another letter in its middle': changed(Math.floor(text.length / 2)),
    // A token of digits has no other case.
    ...(otherCase !== text && { 'letters in the other case': otherCase }),
    'a letter less': text.slice(0, -1),
    'a letter more': `${text}x`,
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Returns other spellings of the same signature. Some have padding or letters of plain base64, which RFC 7515 section 2 forbids. Others
 * have other unused bits in the last letter, which decoders may ignore (RFC 4648 section 3.5).
 * @param withBits includes the spellings with other unused bits
 */
export function otherSpellings({ signed, signature, signatureText }: ReadToken, withBits: boolean): string[] {
  const plain = signatureText.replaceAll('-', '+').replaceAll('_', '/')
  const last = withBits ? [...ALPHABET].map((letter) => signatureText.slice(0, -1) + letter) : []
  const same = last.filter((one) => signature.equals(Buffer.from(one, 'base64url')))
  const spellings = new Set([`${signatureText}=`, `${signatureText}==`, plain, ...same])
  return [...spellings].filter((one) => one !== signatureText).map((one) => `${signed}.${one}`)
}
