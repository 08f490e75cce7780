import { createHmac, type KeyObject } from 'node:crypto'
import { parseJson } from '../../options/values.js'
import { isKeyPairAlgorithm, PAIRS } from '../../tokens/algorithms/algorithms.js'
import { signCompact } from '../../tokens/jwt/signature.js'
import type { ReadToken } from './probe/read-token.js'

type ClaimMembers = Readonly<Record<string, unknown>>

const encode = (members: ClaimMembers) => Buffer.from(JSON.stringify(members)).toString('base64url')

const headerOf = ({ text }: ReadToken) =>
  parseJson(Buffer.from(text.slice(0, text.indexOf('.')), 'base64url').toString()) as ClaimMembers

/** Returns the token with another payload, and with other bits in its signature. */
export function tampered({ claims, signed, signature, signatureText, text }: ReadToken): Record<string, string> {
  const longer = encode({ ...claims, exp: Number(claims['exp']) + 1 })
  const flipped = (at: number) => {
    const bits = Buffer.from(signature)
    bits.writeUInt8(bits.readUInt8(at) ^ 1, at)
    return `${signed}.${bits.toString('base64url')}`
  }
  const head = text.slice(0, text.indexOf('.'))
  return {
    'another exp': `${head}.${longer}.${signatureText}`,
    'another sub': `${head}.${encode({ ...claims, sub: 'somebody-else' })}.${signatureText}`,
    'another signature': flipped(0),
    'another end of its signature': flipped(signature.length - 1),
  }
}

/** Returns a token that is not a JWT, with another letter at its start, in its middle and at its end. */
export function changedLetter(text: string): Record<string, string> {
  const other = (letter = '') => (letter === 'x' ? 'y' : 'x')
  const changed = (at: number) => text.slice(0, at) + other(text[at]) + text.slice(at + 1)
  const variants = {
    'another first letter': changed(0),
    'another letter in its middle': changed(Math.floor(text.length / 2)),
    'letters in the other case': text.replace(/[a-z]/gi, (one) =>
      one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
    ),
    'a letter less': text.slice(0, -1),
    'a letter more': `${text}x`,
  }
  // A token of digits has no other case.
  return Object.fromEntries(Object.entries(variants).filter(([, variant]) => variant !== text))
}

/**
 * Returns the token's claims signed with an empty secret. A `kid` may be used as a path or in a query, so some name an empty file,
 * or select an empty text.
 */
export function blankKey(token: ReadToken): string[] {
  const kids = [undefined, '/dev/null', '../../../../../../../../dev/null', "' UNION SELECT '' -- "]
  return kids.map((kid) => {
    const input = `${encode({ ...headerOf(token), alg: 'HS256', ...(kid && { kid }) })}.${encode(token.claims)}`
    return `${input}.${createHmac('sha256', '').update(input).digest('base64url')}`
  })
}

/** Returns the token with other claims and a signature that some verifiers do not read (CVE-2022-21449: R and S are zero). */
export function blankSignatures(token: ReadToken): Record<string, string> {
  const signed = `${encode(headerOf(token))}.${encode({ ...token.claims, sub: 'somebody-else' })}`
  const zeros = Buffer.alloc(token.signature.length).toString('base64url')
  const ecdsa = `${encode({ ...headerOf(token), alg: 'ES256' })}.${encode(token.claims)}`
  return {
    'a token with a signature of zeros': `${signed}.${zeros}`,
    'a token with an ES256 signature of zeros': `${ecdsa}.${Buffer.alloc(64).toString('base64url')}`,
    'a token without its signature': `${signed}.`,
    'a token of two parts': signed,
  }
}

/** Returns the token without a signature, with `none` in different letter cases (RFC 8725 section 3.2). */
export function unsigned(token: ReadToken): string[] {
  const payload = encode(token.claims)
  return ['none', 'None', 'nOnE'].flatMap((alg) => {
    const head = encode({ ...headerOf(token), alg })
    return [`${head}.${payload}.`, `${head}.${payload}.${token.signatureText}`]
  })
}

/** Returns the token's claims signed by a new key, with and without the key in the header. */
export function signedByOurselves(token: ReadToken): string[] {
  const alg = isKeyPairAlgorithm(token.alg) ? token.alg : 'ES256'
  const { privateKey, publicKey } = PAIRS[alg].generate(2048)
  const jwk = publicKey.export({ format: 'jwk' })
  return [{ jwk }, { jwk, kid: undefined }, {}].map((more) =>
    signCompact({ ...headerOf(token), ...more, alg }, token.claims, privateKey),
  )
}

/** Returns the token's claims signed with the public key as a secret (RFC 8725 section 2.1), in each format of the key. */
export function signedByPublicKey(token: ReadToken, key: KeyObject): string[] {
  const pem = key.export({ type: 'spki', format: 'pem' }).toString()
  const input = `${encode({ ...headerOf(token), alg: 'HS256' })}.${encode(token.claims)}`
  return [
    pem,
    pem.trimEnd(),
    key.export({ type: 'spki', format: 'der' }),
    JSON.stringify(key.export({ format: 'jwk' })),
  ].map((secret) => `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`)
}

/**
 * Returns other spellings of the same signature. Some have padding or letters of plain base64, which RFC 7515 section 2 forbids. Others
 * have other unused bits in the last letter, which decoders may ignore (RFC 4648 section 3.5).
 * @param withBits includes the spellings with other unused bits
 */
export function otherSpellings({ signed, signature, signatureText }: ReadToken, withBits: boolean): string[] {
  const plain = signatureText.replaceAll('-', '+').replaceAll('_', '/')
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = withBits ? [...ALPHABET].map((letter) => signatureText.slice(0, -1) + letter) : []
  const spellings = [
    `${signatureText}=`,
    `${signatureText}==`,
    plain,
    ...last.filter((one) => signature.equals(Buffer.from(one, 'base64url'))),
  ]
  return [...new Set(spellings)].filter((one) => one !== signatureText).map((one) => `${signed}.${one}`)
}
