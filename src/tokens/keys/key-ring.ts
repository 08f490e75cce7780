import { createPublicKey, type KeyObject } from 'node:crypto'
import { types } from 'node:util'
import {
  type Check,
  describe,
  describeSecret,
  InvalidOption,
  isPlainObject,
  named,
  optional,
  readOptions,
  text,
} from '../../shared/options.js'
import { ALGORITHMS, type Algorithm, type KeyPairAlgorithm, type SecretAlgorithm } from './algorithms.js'
import { type KeyMaterial, kidOfJwk, MATERIALS, type SecretMaterial, thumbprint } from './key-material.js'

/**
 * One key. `undefined` is allowed for the material so that `process.env.NAME` fits; a variable that is not set is then
 * a `TypeError` that says so.
 */
export type TokenKey = SecretTokenKey | PrivateTokenKey | PublicTokenKey

/** Signs and verifies: whoever has it can issue tokens. */
export interface SecretTokenKey {
  /** The algorithm: HMAC with SHA-2. */
  alg: SecretAlgorithm
  /** At least 32 bytes for HS256, 48 for HS384, 64 for HS512. */
  secret: SecretMaterial | undefined
  /** Names the key in a token's header. Default: the JWK's own, else a digest keyed with the secret, which tells nothing of it. */
  kid?: string | undefined
  /** Only beside an RS, PS or ES algorithm. */
  privateKey?: undefined
  /** Only beside an RS, PS or ES algorithm. */
  publicKey?: undefined
}

/** Signs, and verifies by its public half. */
export interface PrivateTokenKey {
  /** The algorithm: RSA or ECDSA. */
  alg: KeyPairAlgorithm
  /** The private key; its public half is found from it. */
  privateKey: KeyMaterial | undefined
  /** Names the key in a token's header. Default: the JWK's own, else the thumbprint (RFC 7638). */
  kid?: string | undefined
  /** Not beside the private key, which has it. */
  publicKey?: undefined
  /** Only beside an HS algorithm. */
  secret?: undefined
}

/** Verifies: the half of a key pair that may be known to all. */
export interface PublicTokenKey {
  /** The algorithm: RSA or ECDSA. */
  alg: KeyPairAlgorithm
  /** The public key. A private one is refused here, so that it is not spread by mistake. */
  publicKey: KeyMaterial | undefined
  /** Names the key in a token's header. Default: the JWK's own, else the thumbprint (RFC 7638). */
  kid?: string | undefined
  /** Signs, so it makes a `PrivateTokenKey`. */
  privateKey?: undefined
  /** Only beside an HS algorithm. */
  secret?: undefined
}

/** A public key as a JWK set shows it (RFC 7517). */
export interface PublicJwk extends Exclude<KeyMaterial, string | KeyObject> {
  /** What a token's header names it by (section 4.5). */
  kid: string
  /** The one algorithm that it is for (section 4.4). */
  alg: Algorithm
  /** That it verifies signatures, and is for nothing else (section 4.2). */
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
  /**
   * For keys that are somewhere else: resolves when `find`, having found nothing, is worth asking once more; with the reason,
   * when a key that it then does not find may be there all the same.
   */
  renew?(): Promise<Error | undefined>
}

export interface KeyRing extends KeySource {
  /** The first key of the list: the one that signs. */
  readonly first: VerificationKey & { readonly signingKey: KeyObject | undefined }
  publicJwks(): PublicJwk[]
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
    throw new InvalidOption(`one of ${Object.keys(ALGORITHMS).join(', ')}`)
  }
  return value as Algorithm
}

const anything: Check<unknown> = (value) => value

type AnyKeyOptions = { alg?: unknown; secret?: unknown; privateKey?: unknown; publicKey?: unknown; kid?: unknown }

const aliases = {
  algorithm: 'alg',
  key: 'privateKey',
  private: 'privateKey',
  public: 'publicKey',
  keyid: 'kid',
  secretOrKey: 'secret',
}

const FIELDS = ['secret', 'privateKey', 'publicKey'] as const

function readKey(name: string, entry: unknown): ParsedKey {
  if (!isPlainObject(entry) || types.isKeyObject(entry)) {
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
    aliases,
  )
  const alg = options.alg as Algorithm
  const kind = ALGORITHMS[alg]
  const mentioned = FIELDS.filter((field) => Object.hasOwn(entry, field))
  const given = FIELDS.filter((field) => options[field] !== undefined)
  // With none given, the one that is named is an environment variable that is not set.
  const fields = given.length > 0 ? given : mentioned
  const [field] = fields
  if (fields.length !== 1 || !field || (field === 'secret') !== (kind.kind === 'secret')) {
    const wanted = kind.kind === 'secret' ? '"secret"' : '"privateKey" (signs and verifies) or "publicKey" (verifies)'
    throw new TypeError(`${name} must have ${wanted} for ${alg}, but has ${fields.join(' and ') || 'no key material'}`)
  }
  const material = options[field]
  if (material === undefined) {
    throw new TypeError(`${name}.${field} is missing. Is an environment variable not set?`)
  }
  const parsed = named(`${name}.${field}`, MATERIALS[field](alg, kind), material, describeSecret)
  const verifying = parsed.type === 'private' ? createPublicKey(parsed) : parsed
  return {
    alg,
    kid: (options.kid as string | undefined) ?? kidOfJwk(material) ?? thumbprint(verifying),
    key: verifying,
    signingKey: parsed.type === 'public' ? undefined : parsed,
  }
}
