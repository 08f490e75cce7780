import {
  type AsymmetricKeyDetails,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  KeyObject,
} from 'node:crypto'
import {
  type Check,
  describe,
  describeSecret,
  Expected,
  isPlainObject,
  named,
  optional,
  readOptions,
  text,
} from '../options.js'

/** HMAC with SHA-2 (RFC 7518 section 3.2): the same secret signs and verifies. */
export type SecretAlgorithm = 'HS256' | 'HS384' | 'HS512'
/** RSASSA-PKCS1-v1_5, RSASSA-PSS and ECDSA (RFC 7518 sections 3.3 to 3.5): a private key signs, its public key verifies. */
export type KeyPairAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512'
export type Algorithm = SecretAlgorithm | KeyPairAlgorithm

/** Text (its UTF-8 bytes), bytes, or a `KeyObject`. At least as long as the hash: 32, 48 or 64 bytes (RFC 7518 section 3.2). */
export type SecretMaterial = string | Uint8Array | KeyObject
/** PEM text, a JWK (RFC 7517), or a `KeyObject`. */
export type KeyMaterial = string | JsonWebKey | KeyObject

/**
 * One key. `undefined` is allowed for the material so that `process.env.NAME` fits; a variable that is not set is then
 * a `TypeError` that says so.
 */
export type TokenKey = SecretTokenKey | PrivateTokenKey | PublicTokenKey
/** Signs and verifies. */
export type SecretTokenKey = { alg: SecretAlgorithm; secret: SecretMaterial | undefined; kid?: string | undefined }
/** Signs, and verifies by its public half. */
export type PrivateTokenKey = { alg: KeyPairAlgorithm; privateKey: KeyMaterial | undefined; kid?: string | undefined }
/** The half of a key pair that may be known to all. */
export type PublicTokenKey = { alg: KeyPairAlgorithm; publicKey: KeyMaterial | undefined; kid?: string | undefined }

/** A public key as a JWK set shows it (RFC 7517). */
export interface PublicJwk extends JsonWebKey {
  kid: string
  alg: Algorithm
  use: 'sig'
}

/** A key that verifies: the algorithm is the key's, whatever a token's header says (RFC 8725 section 3.1). */
export interface VerificationKey {
  readonly kid: string
  readonly alg: Algorithm
  readonly key: KeyObject
}

/** Where `verify` finds keys. Another source of keys is another object of this shape. */
export interface KeySource {
  find(kid: string): VerificationKey | undefined
}

export interface KeyRing extends KeySource {
  /** The first key of the list: the one that signs. */
  readonly first: VerificationKey & { readonly signingKey: KeyObject | undefined }
  publicJwks(): PublicJwk[]
}

type Row = { kind: 'secret'; minBytes: number } | { kind: 'rsa' } | { kind: 'ec'; curve: string }

const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 16_384

/** A row per algorithm: what key it takes. */
const ALGORITHMS: Readonly<Record<Algorithm, Row>> = {
  HS256: { kind: 'secret', minBytes: 32 },
  HS384: { kind: 'secret', minBytes: 48 },
  HS512: { kind: 'secret', minBytes: 64 },
  RS256: { kind: 'rsa' },
  RS384: { kind: 'rsa' },
  RS512: { kind: 'rsa' },
  PS256: { kind: 'rsa' },
  PS384: { kind: 'rsa' },
  PS512: { kind: 'rsa' },
  ES256: { kind: 'ec', curve: 'prime256v1' },
  ES384: { kind: 'ec', curve: 'secp384r1' },
  ES512: { kind: 'ec', curve: 'secp521r1' },
}

interface ParsedKey extends VerificationKey {
  readonly signingKey: KeyObject | undefined
}

/**
 * Reads the `keys` option: one key or a list of keys.
 * @throws TypeError naming the key by its place in the list; no key material is ever shown.
 */
export function readKeys(caller: string, value: unknown): KeyRing {
  const list = Array.isArray(value) ? value : [value]
  const keys = list.map((entry, i) =>
    readKey(Array.isArray(value) ? `${caller}: option "keys[${i}]"` : `${caller}: option "keys"`, entry),
  )
  const [first] = keys
  if (!first) throw new TypeError(`${caller}: option "keys" must hold at least one key, but is an empty array`)
  // A public key taken for an HMAC secret is the classic way to forge a token (RFC 8725 section 2.1).
  if (new Set(keys.map(({ key }) => key.type)).size > 1) {
    throw new TypeError(
      `${caller}: option "keys" must be all secrets or all key pairs, but mixes HS algorithms with RS, PS or ES ones. To change from one kind to the other, use two issuers side by side for a token's lifetime`,
    )
  }
  const byKid = new Map(keys.map((key) => [key.kid, key]))
  if (byKid.size < keys.length) {
    throw new TypeError(`${caller}: option "keys" must not hold one "kid" twice. Is the same key listed twice?`)
  }
  return {
    first,
    find: (kid) => byKid.get(kid),
    publicJwks: () =>
      keys
        .filter(({ key }) => key.type === 'public')
        .map(({ kid, alg, key }) => ({ ...key.export({ format: 'jwk' }), kid, alg, use: 'sig' })),
  }
}

const algorithm: Check<Algorithm> = (value) => {
  if (typeof value !== 'string' || !Object.hasOwn(ALGORITHMS, value)) {
    throw new Expected(`one of ${Object.keys(ALGORITHMS).join(', ')}`)
  }
  return value as Algorithm
}

const anything: Check<unknown> = (value) => value

type AnyKeyOptions = { alg?: unknown; secret?: unknown; privateKey?: unknown; publicKey?: unknown; kid?: unknown }

const MISTAKES = {
  algorithm: 'alg',
  key: 'privateKey',
  private: 'privateKey',
  public: 'publicKey',
  keyid: 'kid',
  secretOrKey: 'secret',
}

const MATERIALS = ['secret', 'privateKey', 'publicKey'] as const

function readKey(name: string, entry: unknown): ParsedKey {
  if (!isPlainObject(entry) || entry instanceof KeyObject) {
    throw new TypeError(
      `${name} must be { alg, secret }, { alg, privateKey } or { alg, publicKey }, but is ${describe(entry)}`,
    )
  }
  const options = readOptions<AnyKeyOptions, Record<keyof AnyKeyOptions, Check<unknown>>>(
    name,
    entry,
    {
      alg: algorithm,
      secret: anything,
      privateKey: anything,
      publicKey: anything,
      kid: optional(text('a non-empty string')),
    },
    MISTAKES,
  )
  const alg = options.alg as Algorithm
  const row = ALGORITHMS[alg]
  const mentioned = MATERIALS.filter((field) => Object.hasOwn(entry, field))
  const given = mentioned.filter((field) => entry[field] !== undefined)
  // With none given, the one that is named is an environment variable that is not set.
  const fields = given.length > 0 ? given : mentioned
  const [field] = fields
  if (fields.length !== 1 || !field || (field === 'secret') !== (row.kind === 'secret')) {
    const wanted = row.kind === 'secret' ? '"secret"' : '"privateKey" (signs and verifies) or "publicKey" (verifies)'
    throw new TypeError(`${name} must have ${wanted} for ${alg}, but has ${fields.join(' and ') || 'no key material'}`)
  }
  const material = entry[field]
  if (material === undefined) {
    throw new TypeError(`${name}.${field} is missing. Is an environment variable not set?`)
  }
  const parsed = named(`${name}.${field}`, PARSERS[field](alg, row), material, describeSecret)
  const verifying = parsed.type === 'private' ? createPublicKey(parsed) : parsed
  return {
    alg,
    kid: (options.kid as string | undefined) ?? kidOfJwk(material) ?? thumbprint(verifying),
    key: verifying,
    signingKey: parsed.type === 'public' ? undefined : parsed,
  }
}

const PARSERS: Record<'secret' | 'privateKey' | 'publicKey', (alg: Algorithm, row: Row) => Check<KeyObject>> = {
  secret: (alg, row) => (value) => {
    const bytes = row.kind === 'secret' ? row.minBytes : 0
    const what = `a secret of at least ${bytes} bytes for ${alg} (RFC 7518 section 3.2)`
    const key = value instanceof KeyObject ? value : secretOf(value)
    if (key?.type === 'secret' && key.export().includes('-----BEGIN')) {
      throw new Expected(
        what,
        'This is a PEM: did you mean "privateKey" or "publicKey", with an RS, PS or ES algorithm?',
      )
    }
    if (key?.type !== 'secret') throw new Expected(what)
    if ((key.symmetricKeySize ?? 0) < bytes) {
      throw new Expected(what, 'Make one with: openssl rand -base64 64')
    }
    return key
  },
  privateKey: (alg, row) => (value) => {
    const key = keyOf(value, 'private', createPrivateKey)
    return fitting(alg, row, value, key)
  },
  publicKey: (alg, row) => (value) => {
    const isPrivate =
      (typeof value === 'string' && value.includes('PRIVATE KEY-----')) || (isPlainObject(value) && 'd' in value)
    const key = isPrivate ? undefined : keyOf(value, 'public', createPublicKey)
    return fitting(alg, row, value, key, isPrivate ? 'This is a private key: did you mean "privateKey"?' : '')
  },
}

function secretOf(value: unknown): KeyObject | undefined {
  if (typeof value === 'string') return createSecretKey(value, 'utf8')
  return value instanceof Uint8Array ? createSecretKey(value) : undefined
}

function keyOf(
  value: unknown,
  type: 'private' | 'public',
  create: (key: string | { key: JsonWebKey; format: 'jwk' }) => KeyObject,
): KeyObject | undefined {
  if (value instanceof KeyObject) return value.type === type ? value : undefined
  try {
    if (typeof value === 'string') return create(value)
    return isPlainObject(value) ? create({ key: value, format: 'jwk' }) : undefined
  } catch {
    return undefined
  }
}

function fitting(alg: Algorithm, row: Row, value: unknown, key: KeyObject | undefined, hint = ''): KeyObject {
  const kind = row.kind === 'ec' ? `an EC key on curve ${row.curve}` : `an RSA key of at least ${MIN_RSA_BITS} bits`
  const what = `${kind} for ${alg}, as PEM text, a JWK or a KeyObject`
  if (!key)
    throw new Expected(what, hint || (typeof value === 'string' ? 'An encrypted PEM must be decrypted first' : ''))
  const details = key.asymmetricKeyDetails ?? {}
  const fits =
    row.kind === 'ec'
      ? key.asymmetricKeyType === 'ec' && details.namedCurve === row.curve
      : key.asymmetricKeyType === 'rsa' && isStrongRsa(details)
  if (!fits) {
    const size = details.modulusLength ? ` of ${details.modulusLength} bits` : ''
    const curve = details.namedCurve ? ` on curve ${details.namedCurve}` : ''
    throw new Expected(what, `This is a key of type ${key.asymmetricKeyType}${size}${curve}`)
  }
  if (isPlainObject(value) && !(value instanceof KeyObject)) {
    if (value['alg'] !== undefined && value['alg'] !== alg)
      throw new Expected(what, 'The JWK\'s own "alg" says otherwise')
    if (value['use'] !== undefined && value['use'] !== 'sig')
      throw new Expected(what, 'The JWK\'s own "use" is not "sig"')
    const operation = key.type === 'private' ? 'sign' : 'verify'
    const operations = value['key_ops'] ?? [operation]
    if (!Array.isArray(operations) || !operations.includes(operation)) {
      throw new Expected(what, `The JWK's own "key_ops" do not have "${operation}"`)
    }
  }
  return key
}

/** NIST SP 800-56B: with an exponent of 1 anyone could sign. A huge modulus makes each verification a burden. */
function isStrongRsa({ modulusLength = 0, publicExponent = 0n }: AsymmetricKeyDetails): boolean {
  const soundExponent = publicExponent >= 65_537n && publicExponent % 2n === 1n
  return modulusLength >= MIN_RSA_BITS && modulusLength <= MAX_RSA_BITS && soundExponent
}

function kidOfJwk(material: unknown): string | undefined {
  const kid = isPlainObject(material) && !(material instanceof KeyObject) ? material['kid'] : undefined
  return typeof kid === 'string' && kid !== '' ? kid : undefined
}

/** RFC 7638 for a public key. A secret's is keyed with the secret itself, so that it tells no more than a token does. */
function thumbprint(key: KeyObject): string {
  if (key.type === 'secret') {
    return createHmac('sha256', key).update('express-token-endpoint kid').digest('base64url').slice(0, 22)
  }
  const { crv, e, kty, n, x, y } = key.export({ format: 'jwk' })
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y }
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url')
}
