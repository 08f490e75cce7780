import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKeyInput,
  type KeyObject,
} from 'node:crypto'
import { isKeyObject, isUint8Array } from 'node:util/types'
import { type Check, InvalidOption } from '../../options/read-options.js'
import type { Secrets } from '../../options/secret.js'
import { bare, isPlainObject, memberOf, own, parseJson, resultOrUndefined } from '../../options/values.js'
import { type PairAlgorithmRow, type SecretAlgorithmRow, withoutOptions } from '../algorithms/algorithm.js'
import { ALGORITHMS, type Algorithm, isNameOf } from '../algorithms/algorithms.js'
import { keyPairFormat } from './key-pair-format.js'

/** A secret as text (in UTF-8), bytes or a `KeyObject`. At least as long as the hash: 32, 48 or 64 bytes (RFC 7518 section 3.2). */
export type SecretMaterial = string | Uint8Array | KeyObject
// Uses JsonWebKeyInput, because newer versions of @types/node do not export JsonWebKey.
/** A key as unencrypted PEM text, JWK (RFC 7517) or `KeyObject`: RSA of at least 2048 bits, or EC on the algorithm's curve. */
export type KeyMaterial = string | (JsonWebKeyInput['key'] & Partial<Record<'kid', unknown>>) | KeyObject

const createWith = (alg: string) => `Create a secret with: npx express-token-endpoint keygen --alg ${alg}`

/** Readers for the material of keys. No error shows any of the material. */
export const MATERIALS: Record<'secret' | 'privateKey' | 'publicKey', (alg: Algorithm) => Check<KeyObject>> = {
  secret: (alg) => {
    const { minBytes: bytes } = ALGORITHMS[alg] as SecretAlgorithmRow
    const what = `a secret of at least ${bytes} bytes for ${alg} (RFC 7518 section 3.2)`
    return secretKey(bytes, what, createWith(alg))
  },
  privateKey: (alg) => (given) => {
    const value = withoutPrototype(given)
    const key = keyOf(value, 'private', createPrivateKey)
    const isPublic =
      hasType(value, 'public') ||
      (typeof value === 'string' && value.includes('PUBLIC KEY-----')) ||
      (isJwk(value) && value['kty'] !== undefined && value['d'] === undefined)
    return fitting(alg, value, key, isPublic ? 'This is a public key. Did you mean "publicKey"?' : otherHint(given))
  },
  publicKey: (alg) => (given) => {
    const value = withoutPrototype(given)
    const isPrivate =
      hasType(value, 'private') ||
      (typeof value === 'string' && value.includes('PRIVATE KEY-----')) ||
      (isJwk(value) && value['d'] !== undefined)
    const key = isPrivate ? undefined : keyOf(value, 'public', createPublicKey)
    return fitting(alg, value, key, isPrivate ? 'This is a private key. Did you mean "privateKey"?' : otherHint(given))
  },
}

/** Creates a check for a secret. */
export function secretKey(bytes: number, what: string, mend: string): Check<KeyObject> {
  return (value) => {
    const key = isKeyObject(value) ? value : secretOf(value)
    if (key?.type !== 'secret') throw new InvalidOption(what)
    const mistake = mistakeIn(key.export(), bytes, mend)
    if (mistake) throw new InvalidOption(what, `This ${mistake}`)
    return key
  }
}

/** The fewest bytes of a secret from which keys are derived. */
const SHORTEST = 32

/** Reads a secret or a list of secrets, from which keys are derived. */
export const secretList: Check<Secrets> = (value) => {
  const list = (Array.isArray(value) ? [...value] : [value]).map(listedSecret)
  const mend = createWith('HS256')
  const mistakes = list.map(({ key, onlyDecrypts }, i) => {
    if (!key) return 'is not a string or bytes'
    if (onlyDecrypts && i === 0) return 'only decrypts, but the first secret must also sign. Put a new secret before it'
    return mistakeIn(key.export(), SHORTEST, mend)
  })
  const at = mistakes.findIndex(Boolean)
  if (list.length === 0 || at >= 0) {
    const which = list.length > 1 ? `Secret ${at + 1} of the list` : 'This'
    throw new InvalidOption(
      `a secret of at least ${SHORTEST} bytes, or a list of secrets`,
      at < 0 ? mend : `${which} ${mistakes[at]}`,
    )
  }
  const bytesOf = ({ key }: ListedSecret) => (key as KeyObject).export()
  return {
    verifying: list.filter(({ onlyDecrypts }) => !onlyDecrypts).map(bytesOf),
    decrypting: list.map(bytesOf),
  }
}

interface ListedSecret {
  key: KeyObject | undefined
  onlyDecrypts: boolean
}

/** Reads one of a list of secrets. An object with another member is none, because its name may say what it is not for. */
function listedSecret(value: unknown): ListedSecret {
  if (!isPlainObject(value) || isUint8Array(value)) return { key: secretOf(value), onlyDecrypts: false }
  const isOne =
    Object.keys(value).every((name) => name === 'secret' || name === 'only') && own(value, 'only') === 'decrypt'
  return { key: isOne ? secretOf(own(value, 'secret')) : undefined, onlyDecrypts: true }
}

/** Returns what is wrong with a secret, as the end of a sentence. */
function mistakeIn(secret: Buffer, bytes: number, mend: string): string | undefined {
  const found = keyPairFormat(secret)
  const meant = '"privateKey" or "publicKey" of "keys", with an algorithm of key pairs'
  if (found) return `is a ${found}. Did you mean ${meant}?`
  if (secret.length < bytes) return `is too short. ${mend}`
  return lengthOf(secret) < bytes ? `repeats one character. ${mend}` : undefined
}

/** Returns the length of a secret, which is that of its character where it repeats only one. UTF-8 has characters of up to 4 bytes. */
function lengthOf(secret: Buffer): number {
  const repeats = (size: number) => size < secret.length && secret.subarray(size).equals(secret.subarray(0, -size))
  return [1, 2, 3, 4].find(repeats) ?? secret.length
}

const hasType = (value: unknown, type: KeyObject['type']) => isKeyObject(value) && value.type === type

const isJwk = (value: unknown): value is Record<string, unknown> => isPlainObject(value) && !isKeyObject(value)

/** The members of a JWK that this file or Node reads (RFC 7517 section 4, RFC 7518 section 6). */
const JWK_MEMBERS = [
  ...['kty', 'alg', 'use', 'key_ops'],
  ...['crv', 'x', 'y', 'd', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi', 'oth'],
]

/** Copies a JWK, so that Node reads exactly the checked members and nothing inherited. Returns other material unchanged. */
function withoutPrototype(material: unknown): unknown {
  if (!isJwk(material)) return material
  return bare(Object.fromEntries(JWK_MEMBERS.map((name) => [name, memberOf(material, name)])))
}

function secretOf(value: unknown): KeyObject | undefined {
  if (typeof value === 'string') return createSecretKey(Buffer.from(value))
  return isUint8Array(value) ? createSecretKey(value) : undefined
}

function keyOf(
  value: unknown,
  type: 'private' | 'public',
  create: (key: string | JsonWebKeyInput) => KeyObject,
): KeyObject | undefined {
  if (isKeyObject(value)) return value.type === type ? value : undefined
  if (typeof value === 'string') return resultOrUndefined(() => create(value))
  return isJwk(value) ? resultOrUndefined(() => create(bare({ key: value, format: 'jwk' as const }))) : undefined
}

/** Returns the hint for a JWK set (RFC 7517 section 5) in the place of a key. */
const setHint = (value: unknown): string =>
  isJwk(value) && Array.isArray(own(value, 'keys')) ? 'This is a JWK set. Pass one of its "keys"' : ''

/** Returns the hint for a JWK set, and for a secret, in the place of a key. */
const otherHint = (value: unknown): string =>
  hasType(value, 'secret') ? 'This is a secret. Did you mean "secret", with an HS algorithm?' : setHint(value)

/** Returns the likely mistake in text that is not a key. Shows none of the text. */
function pemMistake(pem: string): string {
  const json = parseJson(pem)
  if (isJwk(json)) return setHint(json) || 'This is a JWK as a string. Pass JSON.parse(text)'
  if (!pem.includes('-----BEGIN')) return 'This is not PEM. If it is a file name, pass the content of the file'
  if (pem.includes('\\n')) return "Its line breaks are written as a backslash and an n. Use .replaceAll('\\\\n', '\\n')"
  return pem.includes('ENCRYPTED') ? 'Decrypt an encrypted PEM first' : 'Is the PEM complete, with its line breaks?'
}

function fitting(alg: Algorithm, value: unknown, key: KeyObject | undefined, hint: string): KeyObject {
  const row = ALGORITHMS[alg] as PairAlgorithmRow
  const what = `${row.needs} for ${alg}, as PEM text, a JWK or a KeyObject`
  if (!key) throw new InvalidOption(what, hint || (typeof value === 'string' ? pemMistake(value) : ''))
  if (!row.fits(key)) {
    const details = key.asymmetricKeyDetails ?? {}
    const size = details.modulusLength ? ` of ${details.modulusLength} bits` : ''
    const curve = details.namedCurve ? ` on curve ${details.namedCurve}` : ''
    throw new InvalidOption(what, `This is a key of type ${key.asymmetricKeyType}${size}${curve}`)
  }
  if (isJwk(value)) {
    const operation = key.type === 'private' ? 'sign' : 'verify'
    const { alg: named = alg, use = 'sig', key_ops: operations = [operation] } = value
    if (!isNameOf(named, alg)) throw new InvalidOption(what, 'The "alg" of the JWK differs. Pass the same "alg"')
    if (use !== 'sig') throw new InvalidOption(what, 'The "use" of the JWK is not "sig"')
    if (!Array.isArray(operations) || !operations.includes(operation)) {
      throw new InvalidOption(what, `The "key_ops" of the JWK do not include "${operation}"`)
    }
  }
  return withoutOptions(isKeyObject(value) ? copyOf(key) : key)
}

/** Copies a key of the host, whose object must not change. */
function copyOf(key: KeyObject): KeyObject {
  const form = bare({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' } as const)
  const pem = key.export(form as { format: 'pem'; type: 'spki' })
  return key.type === 'private' ? createPrivateKey(pem) : createPublicKey(pem)
}

export function kidOfJwk(material: unknown): string | undefined {
  const kid = isJwk(material) ? memberOf(material, 'kid') : undefined
  return typeof kid === 'string' && kid !== '' ? kid : undefined
}

/** Returns the thumbprint of a public key (RFC 7638). For a secret, returns an HMAC, which reveals no more than a token. */
export function thumbprint({ alg, key }: { alg: Algorithm; key: KeyObject }): string {
  const row = ALGORITHMS[alg]
  if (row.kind === 'secret') {
    return createHmac('sha256', key).update('express-token-endpoint kid').digest('base64url').slice(0, 22)
  }
  const text = JSON.stringify(key.export({ format: 'jwk' }), [...row.jwkMembers])
  return createHash('sha256').update(text).digest('base64url')
}
